import type { Binding } from '../../store.ts'
import type { Tables } from './tables.ts'

export function readBindings(tables: Tables, instanceId: string): readonly Binding[] {
  return structuredClone(tables.bindings(instanceId).filter(({ phase }) => phase !== 'deleted'))
}

export function readDueForObservation(tables: Tables, max: number, now: number): readonly string[] {
  return [...tables.instances.look()]
    .flatMap(({ id, observeAt }) => (observeAt !== undefined && observeAt <= now ? [{ id, observeAt }] : []))
    .sort((one, other) => one.observeAt - other.observeAt)
    .slice(0, Math.max(0, max))
    .map(({ id }) => id)
}
