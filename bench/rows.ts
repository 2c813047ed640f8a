import { systemClock } from '../src/clock.ts'
import type { Instance } from '../src/domain/instance.ts'
import { newOperation } from '../src/domain/intent.ts'
import type { Operation } from '../src/domain/operation.ts'

/** The rows of an accepted provision, of the size that real ones have. */
export function newOperationRows(
  id: string,
  now: number = systemClock.now(),
): { instance: Instance; operation: Operation } {
  const operation = newOperation(
    {
      operationId: `op-${id}`,
      instanceId: id,
      serviceId: 'bench',
      requestHash: 'hash',
      timeout: 3_600_000,
    },
    'provision',
    now,
  )
  const instance: Instance = {
    id,
    platform: 'default',
    serviceId: 'bench',
    planId: 'plan-0',
    phase: 'creating',
    created: false,
    usable: false,
    requestHash: 'hash',
    context: { platform: 'cloudfoundry', organization_guid: 'org', space_guid: 'space' },
    parameters: { size: 3 },
    state: {},
    dashboardToken: 'token',
    conditions: [],
    lastOperationId: operation.id,
    createdAt: now,
    updatedAt: now,
  }
  return { instance, operation }
}
