import type { Instance } from '../domain/instance.ts'
import type { Operation } from '../domain/operation.ts'
import type { AttemptFields, OperationFields } from '../events.ts'
import type { Claim } from '../ledger.ts'
import type { HeldLease } from './held-lease.ts'

export function operationFields(
  operation: Operation,
  instance?: Pick<Instance, 'planId' | 'platform'>,
): OperationFields {
  return {
    operationId: operation.id,
    action: operation.action,
    instanceId: operation.instanceId,
    bindingId: operation.bindingId,
    serviceId: operation.serviceId,
    planId: operation.input.planId ?? instance?.planId ?? '',
    platform: instance?.platform ?? '',
    requestId: operation.requestId,
    traceparent: operation.traceparent,
    fence: operation.fence || undefined,
    acceptedAt: operation.acceptedAt,
  }
}

export function attemptFields({ operation, instance }: Claim, held: HeldLease): AttemptFields {
  return {
    attempt: operation.attempt,
    startedAt: held.startedAt,
    durationMs: held.storeNow() - held.startedAt,
    ...operationFields(operation, instance),
  }
}
