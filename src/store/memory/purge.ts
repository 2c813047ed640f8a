import type { Binding, Instance } from '../../store.ts'
import { pair, type Tables } from './tables.ts'

/** An instance, or a deleted binding of one that lives on. */
interface Tombstone {
  readonly deletedAt: number
  readonly instanceId: string
  readonly bindingId?: string
}

export function purge(tables: Tables, before: number, max: number, now: number): number {
  const due = [...tombstones(tables, now)].filter(({ deletedAt }) => deletedAt <= before)
  const oldest = due.sort((one, other) => one.deletedAt - other.deletedAt).slice(0, Math.max(0, max))
  const gone = new Set(oldest.map(({ instanceId, bindingId }) => pair(instanceId, bindingId)))
  for (const { id, instanceId, bindingId } of [...tables.operations.all()])
    if (gone.has(pair(instanceId)) || gone.has(pair(instanceId, bindingId))) tables.removeOperation(id)
  for (const { instanceId, bindingId } of oldest) {
    if (bindingId === undefined) tables.removeInstance(instanceId)
    else tables.removeBinding(instanceId, bindingId)
  }
  return oldest.length
}

function* tombstones(tables: Tables, now: number): Iterable<Tombstone> {
  const unclean = new Set<string>()
  for (const binding of tables.bindings.all()) {
    if (isUnclean(binding, now)) unclean.add(binding.instanceId)
    if (binding.phase !== 'deleted' || binding.deletedAt === undefined || isUnclean(binding, now)) continue
    if (tables.instances.get(binding.instanceId)?.phase === 'deleted') continue
    if (tables.activeOperation(binding.instanceId, binding.id) !== undefined) continue
    yield { deletedAt: binding.deletedAt, instanceId: binding.instanceId, bindingId: binding.id }
  }
  for (const instance of tables.instances.all()) {
    if (instance.phase !== 'deleted' || instance.deletedAt === undefined) continue
    if (isUnclean(instance, now) || unclean.has(instance.id)) continue
    if (tables.activeOperation(instance.id) !== undefined || tables.busyBindings(instance.id).length > 0) continue
    yield { deletedAt: instance.deletedAt, instanceId: instance.id }
  }
}

/** A call of a worker that lost its lease may still land. */
function isUnclean({ uncleanUntil = 0 }: Instance | Binding, now: number): boolean {
  return uncleanUntil > now
}
