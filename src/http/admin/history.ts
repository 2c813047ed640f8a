import { verbs } from '../../domain/operator.ts'
import { oneOf, text } from '../../shape/fields.ts'
import { object, optional } from '../../shape/shape.ts'
import type { AdminEndpoint } from './admin-app.ts'
import { answerList, pageFields, time, toMs } from './lists.ts'

export const historyQuery = object({
  ...pageFields,
  by: optional(text()),
  verb: optional(oneOf(verbs)),
  instanceId: optional(text()),
  since: optional(time),
  until: optional(time),
})

/** GET /admin/history: what operators did by hand: who, what, why, and what was other before and after it. */
export const listHistoryEndpoint: AdminEndpoint = ({ broker }, { query }) =>
  answerList(historyQuery, query, ({ since, until, ...wanted }) =>
    broker.store.listActs({ ...wanted, after: toMs(since), before: toMs(until) }),
  )
