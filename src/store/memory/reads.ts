import type { Binding } from '../../store.ts'
import type { Tables } from './tables.ts'

export function readBindings(tables: Tables, instanceId: string): readonly Binding[] {
  return tables.bindings.allOf(instanceId).filter(({ phase }) => phase !== 'deleted')
}

export function readDueForObservation(tables: Tables, max: number, now: number): readonly string[] {
  const due: string[] = []
  for (const { id, observeAt = 0 } of tables.instances.walk(tables.orders.observed)) {
    if (observeAt > now || due.length >= max) break
    due.push(id)
  }
  return due
}
