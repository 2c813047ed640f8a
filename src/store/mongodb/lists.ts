import type { Collection, Document, Filter } from 'mongodb'
import type {
  BindingQuery,
  BindingSummary,
  InstanceQuery,
  InstanceSummary,
  OperationQuery,
  OperationSummary,
  Page,
} from '../../store.ts'
import { keyOf as textKeyOf } from '../keys.ts'
import {
  type List,
  toBindingSummary,
  toInstanceSummary,
  toList,
  toOperationList,
  toOperationSummary,
  toPage,
} from '../lists.ts'
import type { Database } from './database.ts'
import { keyOf } from './keys.ts'

export async function listInstances({ collections }: Database, query: InstanceQuery): Promise<Page<InstanceSummary>> {
  const { platform, serviceId, planId, revisionId, phase, usable } = query
  const wanted = given({
    ...standing(phase),
    'listed.service': serviceId && textKeyOf(serviceId),
    'listed.plan': planId && textKeyOf(planId),
    'listed.platform': platform && textKeyOf(platform),
    'listed.revision': revisionId,
    'listed.usable': usable,
  })
  const list = toList('instances', query)
  const rows = await read(collections.instance, list, { wanted, time: 'listed.createdAt' })
  return toPage(list, rows, positionOf, ({ doc }) => toInstanceSummary(JSON.parse(doc)))
}

export async function listBindings({ collections }: Database, query: BindingQuery): Promise<Page<BindingSummary>> {
  const { instanceId, serviceId, planId, phase } = query
  const wanted = given({
    ...standing(phase),
    instance: instanceId && keyOf(instanceId),
    'listed.service': serviceId && textKeyOf(serviceId),
    'listed.plan': planId && textKeyOf(planId),
  })
  const list = toList('bindings', query)
  const rows = await read(collections.binding, list, { wanted, time: 'listed.createdAt' })
  return toPage(list, rows, positionOf, ({ doc }) => toBindingSummary(JSON.parse(doc)))
}

export async function listOperations(
  { collections }: Database,
  query: OperationQuery,
): Promise<Page<OperationSummary>> {
  const { of, action, state, by = 'accepted', after, before } = query
  const time = by === 'accepted' ? 'listed.acceptedAt' : 'finishedAt'
  const active = state === 'queued' || state === 'running'
  const wanted = given({
    instance: of && keyOf(of.instanceId),
    resource: of?.bindingId === undefined ? undefined : keyOf(of.instanceId, of.bindingId),
    'listed.action': action,
    state,
    active: active || undefined,
    'listed.unsuccessful': state === 'failed' || state === 'superseded' ? true : undefined,
  })
  const range = [
    { [time]: { $exists: true } },
    ...(after === undefined ? [] : [{ [time]: { $gte: after } }]),
    ...(before === undefined ? [] : [{ [time]: { $lt: before } }]),
  ]
  const list = toOperationList(query)
  // Few operations are active. The index in the order of the list would walk through all that have ended.
  const hint = active && of === undefined ? 'due' : undefined
  const rows = await read(collections.operation, list, { wanted: { ...wanted, $and: range }, time, hint })
  return toPage(list, rows, positionOf, ({ doc, state, attempt, notBefore, description }) =>
    toOperationSummary({
      ...JSON.parse(doc),
      state,
      attempt,
      notBefore,
      description: description === undefined ? undefined : JSON.parse(description),
    }),
  )
}

interface Found {
  readonly time: number
  readonly _id: string
  readonly doc: string
  readonly state: OperationSummary['state']
  readonly attempt: number
  readonly notBefore: number
  readonly description?: string
}

function read<Row extends Document>(
  collection: Collection<Row>,
  { after, descending, limit }: List,
  { wanted, time, hint }: { readonly wanted: Document; readonly time: string; readonly hint?: string },
): Promise<Found[]> {
  const filter = after === undefined ? wanted : { $and: [wanted, behind(time, after, descending ? '$lt' : '$gt')] }
  const direction = descending ? -1 : 1
  const fields = { time: `$${time}`, doc: 1, state: 1, attempt: 1, notBefore: 1, description: 1 }
  return collection
    .find<Found>(filter as Filter<Row>, { projection: fields, hint })
    .sort({ [time]: direction, _id: direction })
    .limit(limit + 1)
    .toArray()
}

/** The first condition leads to the place in the index, the second is exact there. */
function behind(time: string, [at, id]: List['after'] & object, beyond: '$lt' | '$gt'): Document {
  return {
    [time]: { [beyond === '$lt' ? '$lte' : '$gte']: at },
    $or: [{ [time]: { [beyond]: at } }, { _id: { [beyond]: id } }],
  }
}

function positionOf({ time, _id }: Found): [number, string] {
  return [time, _id]
}

/** What the partial indexes go by stands in the filter word for word. */
function standing(phase: string | undefined): Document {
  return {
    phase,
    'listed.live': phase === 'deleted' ? undefined : true,
    'listed.unready': phase === undefined || phase === 'ready' ? undefined : true,
  }
}

/** A filter with undefined in it would ask for null. */
function given(filter: Document): Document {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined))
}
