/** The lists that people look at, for showing that each of them walks an index. */
import type { ActQuery, BindingQuery, InstanceQuery, OperationQuery } from '../../src/store.ts'

export const instanceQueries: readonly InstanceQuery[] = [
  {},
  { serviceId: 'service 1' },
  { serviceId: 'service 1', planId: 'plan' },
  { serviceId: 'service 1', phase: 'ready' },
  { planId: 'plan' },
  { platform: 'cf' },
  { revisionId: 'r1' },
  { usable: true },
  { phase: 'ready' },
  { phase: 'failed' },
  { phase: 'creating', serviceId: 'service 1' },
  { phase: 'deleted' },
]

export const bindingQueries: readonly BindingQuery[] = [
  {},
  { serviceId: 'service 1' },
  { serviceId: 'service 1', planId: 'plan' },
  { instanceId: 'i1' },
  { instanceId: 'i1', phase: 'ready' },
  { phase: 'ready' },
  { phase: 'failed' },
  { phase: 'deleted' },
]

export const operationQueries: readonly OperationQuery[] = [
  {},
  { after: 1, before: 1_000 },
  { of: { instanceId: 'i1' } },
  { of: { instanceId: 'i1', bindingId: 'b' } },
  { of: { instanceId: 'i1' }, state: 'failed' },
  { action: 'provision' },
  { state: 'queued' },
  { state: 'running' },
  { state: 'succeeded' },
  { state: 'failed' },
  { state: 'failed', after: 1 },
  { state: 'superseded' },
  { serviceId: 'service' },
  { planId: 'plan' },
  { platform: 'cf' },
  { serviceId: 'service', state: 'succeeded' },
  { serviceId: 'service', state: 'failed' },
  { step: 'create' },
  { fingerprint: '0123' },
  { by: 'finished' },
  { by: 'finished', after: 1, before: 1_000 },
  { by: 'finished', state: 'failed' },
]

export const actQueries: readonly ActQuery[] = [
  {},
  { after: 1, before: 1_000 },
  { by: 'ops' },
  { verb: 'abandon' },
  { verb: 'abandon', after: 1 },
  { instanceId: 'i1' },
]

/** Each of them in both orders. */
export function inBothOrders<Query extends object>(queries: readonly Query[]): [title: string, query: Query][] {
  return queries.flatMap(query =>
    (['newest', 'oldest'] as const).map((order): [string, Query] => {
      const ordered = { ...query, order }
      return [JSON.stringify(ordered), ordered]
    }),
  )
}

/** What is sorted by hand: few rows by their nature (those of one instance, the active ones, the failed ones). */
export function isSortedByHand(query: object): boolean {
  const { instanceId, of, state, by } = query as BindingQuery & OperationQuery
  if (instanceId !== undefined || state === 'queued' || state === 'running' || isOfTwoParts(query)) return true
  return by === 'finished' && (of !== undefined || state === 'failed')
}

/** Operations by a name: the active ones, which are few, and those that have ended, in the order of an index. */
export function isOfTwoParts(query: object): boolean {
  const { serviceId, planId, platform, state } = query as OperationQuery
  return (
    (serviceId ?? planId ?? platform) !== undefined &&
    state !== 'failed' &&
    operationQueries.some(each => same(each, query))
  )
}

function same(query: object, ordered: object): boolean {
  return JSON.stringify({ ...query, order: undefined }) === JSON.stringify({ ...ordered, order: undefined })
}
