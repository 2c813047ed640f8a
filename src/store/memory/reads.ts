import type { Binding } from '../../store.ts'
import type { Tables } from './tables.ts'

export function readBindings(tables: Tables, instanceId: string): readonly Binding[] {
  return tables.bindings(instanceId).filter(binding => binding.phase !== 'deleted')
}

export function readDueForObservation(tables: Tables, max: number, now: number): readonly string[] {
  return [...tables.observed()]
    .filter(([, observeAt]) => observeAt <= now)
    .sort(([, one], [, other]) => one - other)
    .slice(0, Math.max(0, max))
    .map(([id]) => id)
}
