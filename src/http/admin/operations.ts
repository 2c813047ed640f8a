import { searchOperations } from '../../broker/search-operations.ts'
import { listOperations } from '../../broker/verbs/list-operations.ts'
import { readTimeline, showOperation } from '../../broker/verbs/show.ts'
import { actions } from '../../protocol/actions.ts'
import { malformed } from '../../protocol/request-fields.ts'
import { oneOf, text } from '../../shape/fields.ts'
import { object, optional, type Read } from '../../shape/shape.ts'
import type { OperationQuery, OperationSummary, Page, Store } from '../../store.ts'
import { json } from '../respond.ts'
import type { AdminEndpoint } from './admin-app.ts'
import { followTimeline } from './follow-operation.ts'
import { answerList, pageFields, time, toMs } from './lists.ts'
import { wantsStream } from './streams.ts'
import { toBody } from './to-body.ts'

/** What operations can be asked for. `since` and `until` are `after` and `before`, as every other list calls them. */
export const operationFilters = {
  instanceId: optional(text()),
  bindingId: optional(text()),
  action: optional(oneOf(actions)),
  state: optional(oneOf(['queued', 'held', 'running', 'succeeded', 'failed', 'superseded'])),
  serviceId: optional(text()),
  planId: optional(text()),
  platform: optional(text()),
  step: optional(text()),
  error: optional(text()),
  by: optional(oneOf(['accepted', 'finished'])),
  after: optional(time),
  before: optional(time),
  since: optional(time),
  until: optional(time),
  q: optional(text()),
}

export const operationsQuery = object({ ...pageFields, ...operationFilters })
const filters = object(operationFilters)

/** As the store takes it. */
function toOperationQuery(wanted: Omit<Read<typeof filters>, 'q'>) {
  const { instanceId, bindingId, after, before, since, until, error, ...others } = wanted
  if (bindingId !== undefined && instanceId === undefined) throw malformed('binding_id needs instance_id beside it')
  const of = instanceId === undefined ? undefined : { instanceId, bindingId }
  return { ...others, of, fingerprint: error, after: toMs(since ?? after), before: toMs(until ?? before) }
}

/** One page of those that are asked for; by their words, too, where `q` has some. */
export function findOperations(store: Store, asked: Read<typeof operationsQuery>): Promise<Page<OperationSummary>> {
  const { order, limit, cursor, q, ...wanted } = asked
  const filter = toOperationQuery(wanted)
  const list = (page: Pick<OperationQuery, 'cursor' | 'limit' | 'examine'>) =>
    listOperations(store, { order, ...filter, ...page })
  return q === undefined ? list({ cursor, limit }) : searchOperations(list, { words: q, cursor, limit })
}

/** GET /admin/operations */
export const listOperationsEndpoint: AdminEndpoint = ({ broker }, { query }) =>
  answerList(operationsQuery, query, asked => findOperations(broker.store, asked))

/** GET /admin/operations/:id: what is not sealed of it, its steps, what it waits for, and what may be done. */
export const showOperationEndpoint: AdminEndpoint = async ({ broker }, { id }) => {
  const { operation, version, steps, waitingFor, allowedActions } = await showOperation(broker, id)
  const body = {
    ...toBody(operation),
    waiting_for: waitingFor,
    steps: steps.map(toBody),
    allowed_actions: allowedActions,
  }
  return json(200, body, { etag: `"${version}"` })
}

/** GET /admin/operations/:id/timeline: what happened, oldest first. */
export const readTimelineEndpoint: AdminEndpoint = async (context, request) => {
  if (wantsStream(request.headers)) return followTimeline(context, request)
  const [{ broker }, { id }] = [context, request]
  const { operation, events } = await readTimeline(broker.store, id)
  return json(200, { operation: operation.id, state: operation.state, events: events.map(toBody) })
}
