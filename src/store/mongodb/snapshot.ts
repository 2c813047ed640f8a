import type { Document } from 'mongodb'
import type { Operation, Snapshot, Target } from '../../store.ts'
import { type Database, lookup, readWithTime, type Transaction } from './database.ts'
import type { BindingDocument, InstanceDocument, OperationDocument } from './documents.ts'
import { keyOf } from './keys.ts'
import { toBinding, toInstance, toOperation } from './rows.ts'

export interface Reading {
  readonly instanceId: string
  readonly snapshot: Snapshot
  /** The instance's lock as it was read: 0 where there is none yet. */
  readonly lock: number
  /** The active operations of the target. */
  readonly operations: readonly Operation[]
}

/** `'its own'` is the predecessor that the binding's row names. */
export interface ReadingTarget extends Omit<Target, 'predecessorId'> {
  readonly predecessor?: { readonly id: string } | 'its own'
}

/** All that a decision is made from, in one round trip. */
export async function readSnapshot(tx: Transaction, target: ReadingTarget): Promise<Reading> {
  const { sealer } = tx
  const found = await readWithTime<Found>(tx, lookupsOf(tx, target), { session: tx.session })
  const operations = found.operations.map(row => toOperation(sealer, row))
  const [instance] = found.instance
  const { bindingId } = target
  return {
    instanceId: target.instanceId,
    snapshot: {
      now: found.now,
      instance: instance && toInstance(sealer, instance),
      operation: operations.find(operation => operation.bindingId === undefined),
      binding: found.binding?.map(row => toBinding(sealer, row))[0],
      bindingOperation:
        bindingId === undefined ? undefined : operations.find(operation => operation.bindingId === bindingId),
      predecessor: found.predecessor?.map(row => toBinding(sealer, row))[0],
      liveBindings: found.live[0]?.count ?? 0,
      busyBindings: found.active.filter(({ listed }) => listed?.action !== 'sweep').length,
      sweptBindings: found.active.filter(({ listed }) => listed?.action === 'sweep').length,
    },
    lock: instance?.lock ?? 0,
    operations,
  }
}

function lookupsOf({ collections }: Database, target: ReadingTarget): Document[] {
  const { instanceId, bindingId, predecessor } = target
  const instance = keyOf(instanceId)
  const resources = bindingId === undefined ? [instance] : [instance, keyOf(instanceId, bindingId)]
  const [, binding] = resources
  const count = { $count: 'count' }
  return [
    lookup('instance', collections.instance, { $match: { _id: instance } }),
    lookup(
      'operations',
      collections.operation,
      { $match: { resource: { $in: resources }, active: true } },
      { $project: { steps: 0 } },
    ),
    lookup(
      'active',
      collections.operation,
      { $match: { instance, active: true, binding: { $gt: '' } } },
      { $project: { 'listed.action': 1 } },
    ),
    lookup('live', collections.binding, { $match: { instance, phase: { $in: livePhases } } }, count),
    ...(binding === undefined ? [] : [lookup('binding', collections.binding, { $match: { _id: binding } })]),
    ...(predecessor === undefined ? [] : [predecessorLookup(predecessor)]),
  ]

  function predecessorLookup(named: { readonly id: string } | 'its own'): Document {
    if (named !== 'its own')
      return lookup('predecessor', collections.binding, { $match: { _id: keyOf(instanceId, named.id) } })
    const from = collections.binding.collectionName
    return { $lookup: { from, localField: 'binding.predecessor', foreignField: '_id', as: 'predecessor' } }
  }
}

const livePhases = ['ready', 'creating', 'deleting']

interface Found {
  readonly instance: readonly InstanceDocument[]
  readonly operations: readonly OperationDocument[]
  /** The active operations of its bindings. */
  readonly active: readonly Pick<OperationDocument, 'listed'>[]
  readonly live: readonly { readonly count: number }[]
  readonly binding?: readonly BindingDocument[]
  readonly predecessor?: readonly BindingDocument[]
}
