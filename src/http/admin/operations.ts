import { readTimeline, showOperation } from '../../broker/verbs/show.ts'
import { actions } from '../../protocol/actions.ts'
import { malformed } from '../../protocol/request-fields.ts'
import { oneOf, text } from '../../shape/fields.ts'
import { object, optional } from '../../shape/shape.ts'
import { json } from '../respond.ts'
import type { AdminEndpoint } from './admin-app.ts'
import { answerList, pageFields, time, toMs } from './lists.ts'
import { toBody } from './to-body.ts'

const operationsQuery = object({
  ...pageFields,
  instanceId: optional(text()),
  bindingId: optional(text()),
  action: optional(oneOf(actions)),
  state: optional(oneOf(['queued', 'running', 'succeeded', 'failed', 'superseded'])),
  by: optional(oneOf(['accepted', 'finished'])),
  after: optional(time),
  before: optional(time),
})

/** GET /admin/operations */
export const listOperationsEndpoint: AdminEndpoint = ({ broker }, { query }) =>
  answerList(operationsQuery, query, ({ instanceId, bindingId, after, before, ...wanted }) => {
    if (bindingId !== undefined && instanceId === undefined) throw malformed('binding_id needs instance_id beside it')
    const of = instanceId === undefined ? undefined : { instanceId, bindingId }
    return broker.store.listOperations({ ...wanted, of, after: toMs(after), before: toMs(before) })
  })

/** GET /admin/operations/:id: what is not sealed of it, its steps, what it waits for, and what may be done. */
export const showOperationEndpoint: AdminEndpoint = async ({ broker }, { id }) => {
  const { operation, steps, waitingFor, allowedActions } = await showOperation(broker, id)
  return json(200, {
    ...toBody(operation),
    waiting_for: waitingFor,
    steps: steps.map(toBody),
    allowed_actions: allowedActions,
  })
}

/** GET /admin/operations/:id/timeline: what happened, oldest first. */
export const readTimelineEndpoint: AdminEndpoint = async ({ broker }, { id }) => {
  const { operation, events } = await readTimeline(broker.store, id)
  return json(200, { operation: operation.id, state: operation.state, events: events.map(toBody) })
}
