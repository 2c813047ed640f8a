import type { Collection, Document, Filter } from 'mongodb'
import type { BindingQuery, InstanceCount, InstanceQuery, OperationQuery, Page } from '../../store.ts'
import { keyOf as textKeyOf } from '../keys.ts'
import { type List, type Position, toBindingList, toInstanceList, toOperationList, toPage } from '../lists.ts'
import type { Database } from './database.ts'
import { keyOf } from './keys.ts'

export function listInstances({ collections }: Database, query: InstanceQuery) {
  const { platform, serviceId, planId, revisionId, phase, usable } = query
  const wanted = {
    ...standing(phase),
    'listed.service': serviceId && textKeyOf(serviceId),
    'listed.plan': planId && textKeyOf(planId),
    'listed.platform': platform && textKeyOf(platform),
    'listed.revision': revisionId,
    'listed.usable': usable,
  }
  return read(collections.instance, toInstanceList(query), { wanted, time: 'listed.createdAt' })
}

export async function countInstances({ collections }: Database): Promise<readonly InstanceCount[]> {
  const pinned = { $gt: ['$listed.revision', null] }
  const found = await collections.instance
    .aggregate<{ readonly doc: string; readonly instances: number }>([
      { $match: { 'listed.live': true, phase: { $ne: 'creating' } } },
      {
        $group: {
          _id: { service: '$listed.service', plan: '$listed.plan', pinned },
          doc: { $first: '$doc' },
          instances: { $sum: 1 },
        },
      },
    ])
    .toArray()
  return found.map(({ doc, instances }) => {
    const { serviceId, planId, revisionId } = JSON.parse(doc)
    return { serviceId, planId, pinned: revisionId !== undefined, instances }
  })
}

export function listBindings({ collections }: Database, query: BindingQuery) {
  const { instanceId, serviceId, planId, phase } = query
  const wanted = {
    ...standing(phase),
    instance: instanceId && keyOf(instanceId),
    'listed.service': serviceId && textKeyOf(serviceId),
    'listed.plan': planId && textKeyOf(planId),
  }
  return read(collections.binding, toBindingList(query), { wanted, time: 'listed.createdAt' })
}

export function listOperations({ collections }: Database, query: OperationQuery) {
  const { of, action, state, by = 'accepted', after, before } = query
  const time = by === 'accepted' ? 'listed.acceptedAt' : 'finishedAt'
  const active = state === 'queued' || state === 'running'
  const wanted = {
    instance: of && keyOf(of.instanceId),
    resource: of?.bindingId === undefined ? undefined : keyOf(of.instanceId, of.bindingId),
    'listed.action': action,
    state,
    active: active || undefined,
    'listed.unsuccessful': state === 'failed' || state === 'superseded' || undefined,
    [time]: { $exists: true, $gte: after, $lt: before },
  }
  // Few operations are active. The index in the order of the list would walk through all that have ended.
  const hint = active && of === undefined ? 'due' : undefined
  return read(collections.operation, toOperationList(query), { wanted, time, hint })
}

interface Found {
  readonly time: number
  readonly _id: string
  readonly doc: string
  /** Of an operation. */
  readonly description?: string
}

async function read<Row extends Document, Item>(
  collection: Collection<Row>,
  list: List<Item>,
  { wanted, time, hint }: { readonly wanted: Document; readonly time: string; readonly hint?: string },
): Promise<Page<Item>> {
  const { after, descending, limit } = list
  const filter = after === undefined ? wanted : { $and: [wanted, behind(time, after, descending ? '$lt' : '$gt')] }
  const direction = descending ? -1 : 1
  const fields = { time: `$${time}`, doc: 1, state: 1, attempt: 1, notBefore: 1, description: 1 }
  const rows = await collection
    .find<Found>(filter as Filter<Row>, { projection: fields, hint })
    .sort({ [time]: direction, _id: direction })
    .limit(limit + 1)
    .toArray()
  return toPage(list, rows, ({ time, _id }) => [time, _id], toSummary<Item>)
}

function toSummary<Item>({ doc, description, ...fields }: Found): Item {
  return { ...JSON.parse(doc), ...fields, description: description && JSON.parse(description) }
}

/** The first condition leads to the place in the index, the second is exact there. */
function behind(time: string, [at, id]: Position, beyond: '$lt' | '$gt'): Document {
  return {
    [time]: { [beyond === '$lt' ? '$lte' : '$gte']: at },
    $or: [{ [time]: { [beyond]: at } }, { _id: { [beyond]: id } }],
  }
}

/** What the partial indexes go by stands in the filter word for word. */
function standing(phase: string | undefined): Document {
  return {
    phase,
    'listed.live': phase === 'deleted' ? undefined : true,
    'listed.unready': phase === undefined || phase === 'ready' ? undefined : true,
  }
}
