import { showInstance } from '../../broker/verbs/show.ts'
import { flag, oneOf, text } from '../../shape/fields.ts'
import { object, optional } from '../../shape/shape.ts'
import { json } from '../respond.ts'
import type { AdminEndpoint } from './admin-app.ts'
import { answerList, pageFields, time, toMs } from './lists.ts'
import { toBody } from './to-body.ts'

const ofResources = { serviceId: optional(text()), planId: optional(text()) }

/** What instances can be asked for. */
export const instanceFilters = {
  ...ofResources,
  platform: optional(text()),
  revisionId: optional(text()),
  phase: optional(oneOf(['creating', 'ready', 'updating', 'deleting', 'failed', 'deleted'])),
  usable: optional(flag()),
}

export const instancesQuery = object({ ...pageFields, ...instanceFilters })

export const bindingsQuery = object({
  ...pageFields,
  ...ofResources,
  instanceId: optional(text()),
  phase: optional(oneOf(['creating', 'ready', 'deleting', 'failed', 'deleted'])),
  by: optional(oneOf(['created', 'expires'])),
  after: optional(time),
  before: optional(time),
})

/** GET /admin/instances: those that are deleted only where `phase` asks for them. */
export const listInstancesEndpoint: AdminEndpoint = ({ broker }, { query }) =>
  answerList(instancesQuery, query, wanted => broker.store.listInstances(wanted))

/** GET /admin/bindings: the same. */
export const listBindingsEndpoint: AdminEndpoint = ({ broker }, { query }) =>
  answerList(bindingsQuery, query, ({ after, before, ...wanted }) =>
    broker.store.listBindings({ ...wanted, after: toMs(after), before: toMs(before) }),
  )

/** GET /admin/instances/:id: what is not sealed of it, its bindings and its last operation, and what may be done. */
export const showInstanceEndpoint: AdminEndpoint = async ({ broker }, { id }) => {
  const { instance, version, bindings, lastOperation, allowedActions } = await showInstance(broker, id)
  const body = {
    ...toBody(instance),
    last_operation: lastOperation && toBody(lastOperation),
    bindings: bindings.map(toBody),
    allowed_actions: allowedActions,
  }
  return json(200, body, { etag: `"${version}"` })
}
