import type { Collection, Document, Filter } from 'mongodb'
import type {
  ActQuery,
  BindingQuery,
  HistoryEvent,
  InstanceCount,
  InstanceQuery,
  OperationQuery,
  OperationSummary,
  Page,
} from '../../store.ts'
import { keyOf as textKeyOf } from '../keys.ts'
import {
  type Lead,
  type List,
  leadOf,
  type Position,
  toActList,
  toBindingList,
  toInstanceList,
  toOperationList,
  toPage,
} from '../lists.ts'
import type { Database } from './database.ts'
import { keyOf } from './keys.ts'

/** Each lead has an index: which one is faster would be found out by trying, and remembered for other values. */
const hints: Readonly<Record<Lead, string>> = {
  phase: 'list_by_phase',
  usable: 'list_unusable',
  revisionId: 'list_by_revision',
  planId: 'list_by_plan',
  serviceId: 'list_by_service',
  platform: 'list_by_platform',
  action: 'list_by_action',
}

function hintOf(lead: Lead | undefined): string {
  return lead === undefined ? 'list' : hints[lead]
}

export function listInstances(ledger: Database, query: InstanceQuery) {
  const { platform, serviceId, planId, revisionId, phase, usable } = query
  const wanted = {
    ...standing(phase),
    'listed.service': serviceId && textKeyOf(serviceId),
    'listed.plan': planId && textKeyOf(planId),
    'listed.platform': platform && textKeyOf(platform),
    'listed.revision': revisionId,
    'listed.usable': usable,
  }
  const asked = { wanted, time: 'listed.createdAt', hint: hintOf(leadOf(query)) }
  return read(ledger, ledger.collections.instance, toInstanceList(query), asked)
}

export async function countInstances({
  collections,
  timeoutMs: maxTimeMS,
}: Database): Promise<readonly InstanceCount[]> {
  const pinned = { $gt: ['$listed.revision', null] }
  const found = await collections.instance
    .aggregate<{ readonly doc: string; readonly instances: number }>(
      [
        { $match: { 'listed.live': true, phase: { $ne: 'creating' } } },
        {
          $group: {
            _id: { service: '$listed.service', plan: '$listed.plan', pinned },
            doc: { $first: '$doc' },
            instances: { $sum: 1 },
          },
        },
      ],
      { maxTimeMS },
    )
    .toArray()
  return found.map(({ doc, instances }) => {
    const { serviceId, planId, revisionId } = JSON.parse(doc)
    return { serviceId, planId, pinned: revisionId !== undefined, instances }
  })
}

export function listBindings(ledger: Database, query: BindingQuery) {
  const { instanceId, serviceId, planId, phase, by = 'created', after, before } = query
  const expires = by === 'expires'
  const time = expires ? 'listed.expiresAt' : 'listed.createdAt'
  const wanted = {
    ...standing(phase),
    ...(expires && { 'listed.live': true }),
    instance: instanceId && keyOf(instanceId),
    'listed.service': serviceId && textKeyOf(serviceId),
    'listed.plan': planId && textKeyOf(planId),
    [time]: { $exists: true, $gte: after, $lt: before },
  }
  const hint = expires ? 'list_by_expiry' : hintOf(leadOf(query))
  const asked = { wanted, time, hint: instanceId === undefined ? hint : 'by_instance' }
  return read(ledger, ledger.collections.binding, toBindingList(query), asked)
}

export async function listOperations(ledger: Database, query: OperationQuery) {
  const { operation } = ledger.collections
  const { of, action, state, by = 'accepted', after, before, serviceId, planId, platform, step, fingerprint } = query
  const time = by === 'accepted' ? 'listed.acceptedAt' : 'finishedAt'
  const active = state === 'queued' || state === 'running'
  const failed = step !== undefined || fingerprint !== undefined
  const wanted = {
    instance: of && keyOf(of.instanceId),
    resource: of?.bindingId === undefined ? undefined : keyOf(of.instanceId, of.bindingId),
    'listed.action': action,
    'listed.service': serviceId && textKeyOf(serviceId),
    'listed.plan': planId && textKeyOf(planId),
    'listed.platform': platform && textKeyOf(platform),
    'listed.step': step && textKeyOf(step),
    'listed.fingerprint': fingerprint,
    state: failed ? { $eq: 'failed', ...(state !== undefined && { $in: [state] }) } : state,
    active: active || undefined,
    'listed.unsuccessful': failed || state === 'failed' || state === 'superseded' || undefined,
    [time]: { $exists: true, $gte: after, $lt: before },
  }
  const list = toOperationList(query)
  const hint = operationHint(query)
  const lead = leadOf(query)
  const isFailed = failed || state === 'failed' || state === 'superseded'
  if (lead === undefined || active || isFailed || of !== undefined || by === 'finished')
    return read(ledger, operation, list, { wanted, time, hint })
  const ended = { ...wanted, finishedAt: { $exists: true } }
  const both = await Promise.all([
    readRows(ledger, operation, list, { wanted: { ...wanted, active: true }, time, hint: 'due' }),
    readRows(ledger, operation, list, { wanted: ended, time, hint }),
  ])
  const sign = list.descending ? -1 : 1
  const order = (one: Found, other: Found) => one.time - other.time || (one._id < other._id ? -1 : 1)
  const rows = both.flat().sort((one, other) => sign * order(one, other))
  return toPage(list, rows, ({ time: at, _id }) => [at, _id], toSummary<OperationSummary>)
}

/** Undefined where those of a name are asked for in the order of their ends: which is better depends on how many they are. */
function operationHint(query: OperationQuery): string | undefined {
  const { of, state, by = 'accepted', step, fingerprint } = query
  if (of !== undefined) return 'list_by_instance'
  // Few are active. The index in the order of the list would walk through all that have ended.
  if (state === 'queued' || state === 'running') return 'due'
  if (step !== undefined) return 'list_by_step'
  if (fingerprint !== undefined) return 'list_by_error'
  if (state === 'failed' || state === 'superseded')
    return by === 'finished' ? 'list_unsuccessful_finished' : 'list_unsuccessful'
  const lead = leadOf(query)
  if (by === 'accepted') return hintOf(lead)
  return lead === undefined || lead === 'action' ? 'list_finished' : undefined
}

function actHint({ instanceId, by, verb }: ActQuery): string {
  if (instanceId !== undefined) return 'by_instance'
  if (by !== undefined) return 'acted_by'
  return verb === undefined ? 'acted' : 'acted_verb'
}

export async function listActs(ledger: Database, query: ActQuery): Promise<Page<HistoryEvent>> {
  const { by, verb, instanceId, after: from, before } = query
  const list = toActList(query)
  const { after, descending, limit } = list
  const wanted = {
    instance: instanceId && keyOf(instanceId),
    'acted.by': by && textKeyOf(by),
    'acted.verb': verb,
    'acted.at': { $exists: true, $gte: from, $lt: before },
  }
  const filter =
    after === undefined
      ? wanted
      : { $and: [wanted, behind('acted.at', after, descending ? '$lt' : '$gt', 'acted.seq')] }
  const direction = descending ? -1 : 1
  const rows = await ledger.collections.history
    .find(filter as Filter<Document>, { hint: actHint(query), maxTimeMS: ledger.timeoutMs })
    .sort({ 'acted.at': direction, 'acted.seq': direction })
    .limit(limit + 1)
    .toArray()
  return toPage(
    list,
    rows,
    ({ acted }) => [acted?.at ?? 0, acted?.seq ?? ''],
    ({ doc }): HistoryEvent => JSON.parse(doc),
  )
}

interface Found {
  readonly time: number
  readonly _id: string
  readonly doc: string
  /** Of an operation. */
  readonly description?: string
}

interface Wanted {
  readonly wanted: Document
  readonly time: string
  readonly hint?: string
}

async function read<Row extends Document, Item>(
  ledger: Database,
  collection: Collection<Row>,
  list: List<Item>,
  wanted: Wanted,
) {
  return toPage(list, await readRows(ledger, collection, list, wanted), ({ time, _id }) => [time, _id], toSummary<Item>)
}

/** One more than the page holds, where there are so many. */
function readRows<Row extends Document, Item>(
  { timeoutMs: maxTimeMS }: Database,
  collection: Collection<Row>,
  list: List<Item>,
  { wanted, time, hint }: Wanted,
): Promise<Found[]> {
  const { after, descending, limit } = list
  const filter = after === undefined ? wanted : { $and: [wanted, behind(time, after, descending ? '$lt' : '$gt')] }
  const direction = descending ? -1 : 1
  const fields = { time: `$${time}`, doc: 1, state: 1, attempt: 1, notBefore: 1, description: 1 }
  return collection
    .find<Found>(filter as Filter<Row>, { projection: fields, hint, maxTimeMS })
    .sort({ [time]: direction, _id: direction })
    .limit(limit + 1)
    .toArray()
}

function toSummary<Item>({ doc, description, ...fields }: Found): Item {
  return { ...JSON.parse(doc), ...fields, description: description && JSON.parse(description) }
}

/** The first condition leads to the place in the index, the second is exact there. */
function behind(time: string, [at, id]: Position, beyond: '$lt' | '$gt', key = '_id'): Document {
  return {
    [time]: { [beyond === '$lt' ? '$lte' : '$gte']: at },
    $or: [{ [time]: { [beyond]: at } }, { [key]: { [beyond]: id } }],
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
