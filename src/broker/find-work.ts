import type { Hook } from '../author/broker-definition.ts'
import { newId } from '../domain/new-id.ts'
import { operationFields } from '../engine/operation-fields.ts'
import type { FindWork, Work } from '../engine/work.ts'
import type { Claim } from '../ledger.ts'
import { toError } from '../observer.ts'
import type { BrokerContext } from './context.ts'
import { performAction, reportFailure } from './perform.ts'
import type { ResolvedService } from './resolve-services.ts'
import { createWaitingWork } from './waiting-work.ts'

/** Tells the engine how this broker does an operation. */
export function createFindWork(broker: BrokerContext, hooks: readonly Hook[], random: () => number): FindWork {
  return (claim: Claim) => {
    const service = findService(broker, claim)
    if (service !== undefined) return createWork({ broker, service, claim, hooks, random })
    return broker.registered === undefined ? undefined : createWaitingWork(broker)
  }
}

/** An update is done by the revision that it leads to. */
function findService({ services }: BrokerContext, { operation, instance }: Claim): ResolvedService | undefined {
  const { revisionId = instance.revisionId } = operation.input
  return services.of({ serviceId: operation.serviceId, revisionId })
}

interface WorkParts {
  readonly broker: BrokerContext
  readonly service: ResolvedService
  readonly claim: Claim
  readonly hooks: readonly Hook[]
  readonly random: () => number
}

function createWork({ broker, service, claim, hooks, random }: WorkParts): Work {
  const { settings, store, observer } = broker
  const { action } = claim.operation
  const retry = action === 'observe' || action === 'sweep' ? settings.engine.retry : service.actions[action].retry
  return {
    perform: run => performAction({ run, service, settings, store, hooks }),
    onFailure: (run, error) =>
      reportFailure({ run, service, settings, store, hooks }, error, (hook, hookError) =>
        observer['hook.failed']?.({
          ...operationFields(claim.operation, claim.instance),
          hook,
          error: toError(hookError),
        }),
      ),
    // One look per observation: the next one is scheduled anyway.
    retry: action === 'observe' ? { ...retry, attempts: 1 } : retry,
    callTimeout: service.callTimeout,
    settlePolicy: now => ({
      sweepDelay: 2 * service.callTimeout,
      sweepTimeout: settings.engine.timeouts.deprovision,
      sweepOperationId: newId(now),
      lateCalls: service.lateCalls,
      observeAt: service.code.observe && nextObservation(service, now, random),
    }),
    ...(action === 'deprovision' && service.revisionId !== undefined
      ? { afterwards: () => deleteRevisions(broker, service.revisionId) }
      : {}),
  }
}

/** The instance may have been the last one that needed its revision. If this fails, the next purge tries again. */
async function deleteRevisions(
  { registered, store, observer }: BrokerContext,
  revisionId: string | undefined,
): Promise<void> {
  if (registered === undefined || revisionId === undefined || !registered.isOutdated(revisionId)) return
  try {
    const { deleteUnusedRevisions } = await import('./registries/delete-unused-revisions.ts')
    await deleteUnusedRevisions(store)
  } catch (error) {
    observer['revision.deletionFailed']?.({ error: toError(error) })
  }
}

/** A tenth of jitter keeps instances that were created together from being observed together for ever. */
export function nextObservation(service: ResolvedService, now: number, random: () => number): number {
  return now + Math.round(service.observeEvery * (0.95 + 0.1 * random()))
}
