/** The lists that people look at, and what each of them has to go by, for showing that it walks that index. */
import type { ActQuery, BindingQuery, InstanceQuery, OperationQuery } from '../../src/store.ts'

/** What the index of a list begins with. The rows of one instance, the active ones and the failed ones are few by their nature. */
export type Lead =
  | 'time'
  | 'finished'
  | 'expires'
  | 'instance'
  | 'active'
  | 'failed'
  | 'service'
  | 'plan'
  | 'platform'
  | 'revision'
  | 'phase'
  | 'unusable'
  | 'action'
  | 'step'
  | 'error'
  | 'by'
  | 'verb'

type Queries<Query> = readonly (readonly [query: Query, lead: Lead])[]

export const instanceQueries: Queries<InstanceQuery> = [
  [{}, 'time'],
  [{ serviceId: 'service 1' }, 'service'],
  [{ serviceId: 'service 1', planId: 'plan 1' }, 'plan'],
  [{ serviceId: 'service 1', phase: 'ready' }, 'service'],
  [{ planId: 'plan 1' }, 'plan'],
  [{ planId: 'plan 1', phase: 'ready', usable: true }, 'plan'],
  [{ platform: 'platform 1' }, 'platform'],
  [{ revisionId: 'r1' }, 'revision'],
  [{ usable: true }, 'time'],
  [{ usable: false }, 'unusable'],
  [{ phase: 'ready' }, 'time'],
  [{ phase: 'failed' }, 'phase'],
  [{ phase: 'creating', serviceId: 'service 1' }, 'phase'],
  [{ phase: 'failed', planId: 'plan 1', platform: 'platform 1' }, 'phase'],
  [{ phase: 'deleted' }, 'phase'],
]

export const bindingQueries: Queries<BindingQuery> = [
  [{}, 'time'],
  [{ serviceId: 'service 1' }, 'service'],
  [{ serviceId: 'service 1', planId: 'plan 1' }, 'plan'],
  [{ planId: 'plan 1' }, 'plan'],
  [{ planId: 'plan 1', phase: 'ready' }, 'plan'],
  [{ instanceId: 'i1' }, 'instance'],
  [{ instanceId: 'i1', phase: 'ready' }, 'instance'],
  [{ instanceId: 'i1', planId: 'plan 1' }, 'instance'],
  [{ phase: 'ready' }, 'time'],
  [{ phase: 'failed' }, 'phase'],
  [{ phase: 'failed', planId: 'plan 1' }, 'phase'],
  [{ phase: 'deleted' }, 'phase'],
  [{ after: 1, before: 1_000 }, 'time'],
  [{ by: 'expires' }, 'expires'],
  [{ by: 'expires', before: 1_000 }, 'expires'],
  [{ by: 'expires', phase: 'ready', before: 1_000 }, 'expires'],
  [{ by: 'expires', instanceId: 'i1' }, 'instance'],
]

export const operationQueries: Queries<OperationQuery> = [
  [{}, 'time'],
  [{ after: 1, before: 1_000 }, 'time'],
  [{ of: { instanceId: 'i1' } }, 'instance'],
  [{ of: { instanceId: 'i1', bindingId: 'b' } }, 'instance'],
  [{ of: { instanceId: 'i1' }, state: 'failed' }, 'instance'],
  [{ of: { instanceId: 'i1' }, action: 'update' }, 'instance'],
  [{ action: 'update' }, 'action'],
  [{ action: 'update', after: 1, before: 1_000 }, 'action'],
  [{ action: 'update', state: 'succeeded' }, 'action'],
  [{ action: 'update', state: 'failed' }, 'failed'],
  [{ action: 'update', state: 'queued' }, 'active'],
  [{ state: 'queued' }, 'active'],
  [{ state: 'running' }, 'active'],
  [{ state: 'succeeded' }, 'time'],
  [{ state: 'failed' }, 'failed'],
  [{ state: 'failed', after: 1 }, 'failed'],
  [{ state: 'superseded' }, 'failed'],
  [{ serviceId: 'service' }, 'service'],
  [{ planId: 'plan' }, 'plan'],
  [{ platform: 'cf' }, 'platform'],
  [{ serviceId: 'service', planId: 'plan', action: 'update' }, 'plan'],
  [{ serviceId: 'service', state: 'succeeded' }, 'service'],
  [{ serviceId: 'service', state: 'failed' }, 'failed'],
  [{ step: 'create' }, 'step'],
  [{ fingerprint: '0123' }, 'error'],
  [{ by: 'finished' }, 'finished'],
  [{ by: 'finished', after: 1, before: 1_000 }, 'finished'],
  [{ by: 'finished', action: 'update' }, 'finished'],
  [{ by: 'finished', state: 'failed' }, 'failed'],
]

export const actQueries: Queries<ActQuery> = [
  [{}, 'time'],
  [{ after: 1, before: 1_000 }, 'time'],
  [{ by: 'ops' }, 'by'],
  [{ verb: 'abandon' }, 'verb'],
  [{ verb: 'abandon', after: 1 }, 'verb'],
  [{ instanceId: 'i1' }, 'instance'],
]

/** Several filters at once, and what can lead: the one whose rows reach furthest does. */
export const siftedLists: readonly (readonly [
  list: 'instances' | 'bindings' | 'operations' | 'acts',
  query: Readonly<Record<string, string | boolean>>,
  leads: readonly Lead[],
])[] = [
  ['instances', { planId: 'p', platform: 'cf' }, ['plan', 'platform']],
  ['instances', { serviceId: 's', platform: 'cf', usable: false }, ['unusable', 'service', 'platform']],
  ['instances', { phase: 'failed', revisionId: 'r', serviceId: 's' }, ['phase', 'revision', 'service']],
  ['instances', { phase: 'deleted', serviceId: 's', usable: false }, ['phase']],
  ['instances', { revisionId: 'r' }, ['revision']],
  ['instances', { phase: 'ready', usable: true }, ['time']],
  ['bindings', { phase: 'failed', serviceId: 's' }, ['phase', 'service']],
  ['bindings', { planId: 'p', serviceId: 's' }, ['plan']],
  ['operations', { serviceId: 's', platform: 'cf', action: 'bind' }, ['service', 'platform', 'action']],
  ['operations', { serviceId: 's', state: 'failed' }, ['failed', 'service']],
  ['operations', { step: 'create', planId: 'p' }, ['step', 'plan']],
  ['operations', { fingerprint: '0123', state: 'failed', platform: 'cf' }, ['error', 'failed', 'platform']],
  ['operations', { state: 'succeeded' }, ['time']],
  ['acts', { by: 'ops', verb: 'abandon' }, ['by', 'verb']],
]

/** Each of them in both orders. */
export function inBothOrders<Query extends object>(
  queries: Queries<Query>,
): [title: string, query: Query, lead: Lead][] {
  return queries.flatMap(([query, lead]) =>
    (['newest', 'oldest'] as const).map((order): [string, Query, Lead] => {
      const ordered = { ...query, order }
      return [JSON.stringify(ordered), ordered, lead]
    }),
  )
}

/** What is sorted by hand: few rows by their nature. */
export function isSortedByHand(lead: Lead): boolean {
  return lead === 'instance' || lead === 'active'
}

/** Operations by a name: the active ones, which are few, and those that have ended, in the order of an index. */
export function isOfTwoParts(list: string, lead: Lead): boolean {
  return /operations$/i.test(list) && ['service', 'plan', 'platform', 'action'].includes(lead)
}

/** The ends of the names of indexes in SQL, as patterns. Those of one instance may also be found by what is unique. */
export const sqlIndexes: Readonly<Record<Lead, string>> = {
  time: '(list|acted)',
  finished: 'list_finished',
  expires: 'list_expires',
  instance: '(by_instance(_id)?|by_phase|one_active|pkey|autoindex_binding_1)',
  active: '(due|one_active)',
  failed: 'list_failed(_finished)?',
  service: 'list_service',
  plan: 'list_plan',
  platform: 'list_platform',
  revision: '(by_)?revision',
  phase: 'list_phase',
  unusable: 'list_unusable',
  action: 'list_action',
  step: 'list_step',
  error: 'list_error',
  by: 'acted_by',
  verb: 'acted_verb',
}
