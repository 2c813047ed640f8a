import type {
  ActQuery,
  BindingQuery,
  BindingSummary,
  HistoryEvent,
  InstanceCount,
  InstanceQuery,
  InstanceSummary,
  OperationQuery,
  OperationSummary,
  Page,
} from '../../store.ts'
import { keyOf as textKeyOf } from '../keys.ts'
import { actWalks, bindingWalks, instanceWalks, type Lead, operationWalks } from '../leads.ts'
import { toActList, toBindingList, toInstanceList, toOperationList } from '../lists.ts'
import type { Database } from './database.ts'
import { keyOf } from './keys.ts'
import { type Found, readPage } from './read-page.ts'

// What the partial indexes go by stands in the filters word for word.
const live = { 'listed.live': true }
const unready = { 'listed.unready': true }
const unsuccessful = { 'listed.unsuccessful': true }
const ended = { finishedAt: { $exists: true } }
const expiring = { ...live, 'listed.expiresAt': { $exists: true } }
const acted = { 'acted.at': { $exists: true } }

export function listInstances(ledger: Database, query: InstanceQuery): Promise<Page<InstanceSummary>> {
  const { platform, revisionId, usable } = query
  const resource = ofResource(query)
  const filters = {
    ...resource.filters,
    platform: equal('listed.platform', platform, textKeyOf),
    revisionId: equal('listed.revision', revisionId),
    usable: equal('listed.usable', usable),
  }
  return readPage(ledger, ledger.collections.instance, {
    list: toInstanceList(query),
    walks: instanceWalks(query),
    time: 'listed.createdAt',
    filters,
    leads: {
      ...resource.leads,
      platform: ['list_by_platform', { ...filters.platform, ...live }],
      revisionId: ['list_by_revision', filters.revisionId],
      usable: ['list_unusable', { ...filters.usable, ...live }],
    },
    toItem: toSummary,
  })
}

export async function countInstances({
  collections,
  timeoutMs: maxTimeMS,
}: Database): Promise<readonly InstanceCount[]> {
  const pinned = { $gt: ['$listed.revision', null] }
  const found = await collections.instance
    .aggregate<{ readonly doc: string; readonly instances: number }>(
      [
        { $match: { 'listed.live': true } },
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

export function listBindings(ledger: Database, query: BindingQuery): Promise<Page<BindingSummary>> {
  const { filters, leads } = ofResource(query)
  const { instanceId, by, after, before } = query
  const instance = equal('instance', instanceId, keyOf)
  const expires = by === 'expires'
  return readPage(ledger, ledger.collections.binding, {
    list: toBindingList(query),
    walks: bindingWalks(query),
    time: expires ? 'listed.expiresAt' : 'listed.createdAt',
    from: after,
    before,
    filters: { ...filters, instance, expires: expires ? expiring : undefined },
    leads: {
      ...leads,
      time: expires ? ['list_by_expiry', expiring] : leads.time,
      instance: ['by_instance', instance],
    },
    toItem: toSummary,
  })
}

function ofResource({ serviceId, planId, phase }: Pick<BindingQuery, 'serviceId' | 'planId'> & { phase?: string }) {
  const filters = {
    serviceId: equal('listed.service', serviceId, textKeyOf),
    planId: equal('listed.plan', planId, textKeyOf),
    phase: equal('phase', phase),
    notDeleted: phase === 'deleted' ? undefined : live,
  }
  const leads = {
    time: ['list', live],
    serviceId: ['list_by_service', { ...filters.serviceId, ...live }],
    planId: ['list_by_plan', { ...filters.planId, ...live }],
    phase: ['list_by_phase', { ...filters.phase, ...unready }],
  } as const
  return { filters, leads }
}

export function listOperations(ledger: Database, query: OperationQuery): Promise<Page<OperationSummary>> {
  const { of, action, state, by = 'accepted', step, fingerprint, after, before } = query
  const isFinished = by === 'finished'
  const hasFailed = { ...unsuccessful, state: 'failed' }
  const filters = {
    serviceId: equal('listed.service', query.serviceId, textKeyOf),
    planId: equal('listed.plan', query.planId, textKeyOf),
    platform: equal('listed.platform', query.platform, textKeyOf),
    action: equal('listed.action', action),
    step: step === undefined ? undefined : { ...equal('listed.step', step, textKeyOf), ...hasFailed },
    fingerprint: fingerprint === undefined ? undefined : { 'listed.fingerprint': fingerprint, ...hasFailed },
    state: equal('state', state),
    instance: equal('instance', of?.instanceId, keyOf),
    binding: of?.bindingId === undefined ? undefined : { resource: keyOf(of.instanceId, of.bindingId) },
    finished: isFinished ? ended : undefined,
  }
  const isAnyState = !isFinished && state === undefined && step === undefined && fingerprint === undefined
  return readPage(ledger, ledger.collections.operation, {
    list: toOperationList(query),
    walks: operationWalks(query),
    time: isFinished ? 'finishedAt' : 'listed.acceptedAt',
    from: after,
    before,
    filters,
    leads: {
      time: isFinished ? ['list_finished', ended] : ['list'],
      failed: [isFinished ? 'list_unsuccessful_finished' : 'list_unsuccessful', { ...filters.state, ...unsuccessful }],
      step: ['list_by_step', filters.step],
      fingerprint: ['list_by_error', filters.fingerprint],
      serviceId: ['list_by_service', { ...filters.serviceId, ...ended }],
      planId: ['list_by_plan', { ...filters.planId, ...ended }],
      platform: ['list_by_platform', { ...filters.platform, ...ended }],
      action: ['list_by_action', { ...filters.action, ...ended }],
      instance: ['list_by_instance', filters.instance],
      // Few are active. The index in the order of the list would walk through all that have ended.
      active: ['due', { active: true }],
    },
    // Their indexes have those that have ended; the active ones are few, and walked.
    besides: lead => (isAnyState && names.has(lead) ? 'active' : undefined),
    toItem: toSummary,
  })
}

const names: ReadonlySet<Lead> = new Set(['serviceId', 'planId', 'platform', 'action'] as const)

export function listActs(ledger: Database, query: ActQuery): Promise<Page<HistoryEvent>> {
  const { by, verb, instanceId, after, before } = query
  const filters = {
    by: equal('acted.by', by, textKeyOf),
    verb: equal('acted.verb', verb),
    instance: equal('instance', instanceId, keyOf),
    acted,
  }
  return readPage(ledger, ledger.collections.history, {
    list: toActList(query),
    walks: actWalks(query),
    time: 'acted.at',
    key: 'acted.seq',
    from: after,
    before,
    filters,
    leads: {
      time: ['acted', acted],
      by: ['acted_by', { ...filters.by, ...acted }],
      verb: ['acted_verb', { ...filters.verb, ...acted }],
      instance: ['by_instance', filters.instance],
    },
    toItem: ({ doc }): HistoryEvent => JSON.parse(doc),
  })
}

function equal<Value>(field: string, value: Value | undefined, toKey: (value: Value) => unknown = same => same) {
  return value === undefined ? undefined : { [field]: toKey(value) }
}

function toSummary<Item>({ doc, description, ...fields }: Found): Item {
  return { ...JSON.parse(doc), ...fields, description: description && JSON.parse(description) }
}
