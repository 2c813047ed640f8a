import { readChainLines, readChainStatus } from '../../broker/history/read-chain.ts'
import { verbs } from '../../domain/operator.ts'
import { oneOf, text, wholeNumber } from '../../shape/fields.ts'
import { object, optional } from '../../shape/shape.ts'
import { json } from '../respond.ts'
import type { AdminEndpoint } from './admin-app.ts'
import { answerList, pageFields, readQuery, time, toMs } from './lists.ts'

export const historyQuery = object({
  ...pageFields,
  by: optional(text()),
  verb: optional(oneOf(verbs)),
  instanceId: optional(text()),
  since: optional(time),
  until: optional(time),
})

/**
 * GET /admin/history: what operators did by hand: who, what, why, and what was other before and after it. Who signed in to the
 * console, and who was refused, is among it.
 */
export const listHistoryEndpoint: AdminEndpoint = ({ broker }, { query }) =>
  answerList(historyQuery, query, ({ since, until, ...wanted }) =>
    broker.store.listActs({ ...wanted, after: toMs(since), before: toMs(until) }),
  )

/** GET /admin/history/chain: where the chain of the history begins and ends, whether that is proven, and what is not in it yet. */
export const showChainEndpoint: AdminEndpoint = async ({ broker }) => {
  const { anchor, head, ...status } = await readChainStatus(broker.store)
  return json(200, { anchor: { ...anchor }, head: { ...head }, ...status })
}

export const entriesQuery = object({
  after: optional(wholeNumber(0, Number.MAX_SAFE_INTEGER)),
  limit: optional(wholeNumber(1, 500)),
})

/**
 * GET /admin/history/entries: every line of the chain with its hash, the oldest first. Without `entry` the row cannot be read any
 * more. `next` is the number to ask for the lines after.
 */
export const listEntriesEndpoint: AdminEndpoint = async ({ broker }, { query }) => {
  const { after = 0, limit = 200 } = readQuery(entriesQuery, query)
  const lines = await readChainLines(broker.store, after, limit)
  const next = lines.length < limit ? undefined : lines.at(-1)?.no
  return json(200, { items: lines.map(({ no, hash, entry }) => ({ no, hash, entry })), next })
}
