import type {
  AllowedActionsBody,
  BindingBody,
  InstanceBody,
  OperationBody,
  ShownOperationBody,
} from '../../client/index.ts'
import { renderFields } from './fields.ts'
import { renderTable } from './tables.ts'

export function renderOperations(operations: readonly OperationBody[]): string {
  if (operations.length === 0) return 'There are no such operations.\n'
  const rows = operations.map(operation => {
    const { id, action, instance_id, binding_id, accepted_at, description = '' } = operation
    const of = binding_id === undefined ? instance_id : `${instance_id} / ${binding_id}`
    return [id, action, stateOf(operation), of, accepted_at, description]
  })
  return renderTable([['OPERATION', 'ACTION', 'STATE', 'INSTANCE / BINDING', 'ACCEPTED', 'DESCRIPTION'], ...rows])
}

/** One that is held is queued, and nobody runs it: people look for it as held. */
export function stateOf({ state, hold }: Pick<OperationBody, 'state' | 'hold'>): string {
  return hold !== undefined && state === 'queued' ? 'held' : state
}

export function renderInstances(instances: readonly InstanceBody[]): string {
  if (instances.length === 0) return 'There are no such instances.\n'
  const rows = instances.map(({ id, phase, platform, service_id, plan_id, created_at }) => {
    return [id, phase, platform, service_id, plan_id, created_at]
  })
  return renderTable([['INSTANCE', 'PHASE', 'PLATFORM', 'SERVICE', 'PLAN', 'CREATED'], ...rows])
}

export function renderBindings(bindings: readonly BindingBody[]): string {
  if (bindings.length === 0) return ''
  const rows = bindings.map(({ id, phase, created_at, expires_at = '-' }) => [id, phase, created_at, expires_at])
  return `\n${renderTable([['BINDING', 'PHASE', 'CREATED', 'EXPIRES'], ...rows])}`
}

/** Those of many instances. */
export function renderBindingList(bindings: readonly BindingBody[]): string {
  if (bindings.length === 0) return 'There are no such bindings.\n'
  const rows = bindings.map(({ instance_id, id, phase, created_at, renew_before = '-', expires_at = '-' }) => {
    return [instance_id, id, phase, created_at, renew_before, expires_at]
  })
  return renderTable([['INSTANCE', 'BINDING', 'PHASE', 'CREATED', 'RENEW BEFORE', 'EXPIRES'], ...rows])
}

export function renderSteps(steps: NonNullable<ShownOperationBody['steps']>): string {
  if (steps.length === 0) return ''
  const rows = steps.map(({ name, state, attempts, started_at, error = '' }) => {
    return [name, state, String(attempts), started_at, error]
  })
  return `\n${renderTable([['STEP', 'STATE', 'ATTEMPTS', 'SINCE', 'ERROR'], ...rows])}`
}

export function renderAllowed(actions: AllowedActionsBody): string {
  const rows = Object.entries(actions).map(([verb, { allowed, reason = '' }]) => [verb, allowed ? 'yes' : 'no', reason])
  return rows.length === 0 ? '' : `\n${renderTable([['VERB', 'ALLOWED', 'WHY NOT'], ...rows])}`
}

export function describeOperation(operation: OperationBody): string {
  return `${operation.action} ${operation.id}: ${stateOf(operation)}`
}

/** The operation that a verb has changed, or begun. */
export function renderActed(body: ShownOperationBody): string {
  const { id: operation, action, state, instance_id, binding_id, retry_of, waiting_for } = body
  return renderFields({ operation, action, state, instance_id, binding_id, retry_of, waiting_for })
}
