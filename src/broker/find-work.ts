import type { Hook } from '../author/broker-definition.ts'
import { newId } from '../domain/new-id.ts'
import { operationFields } from '../engine/operation-fields.ts'
import type { FindWork } from '../engine/work.ts'
import { toError } from '../observer.ts'
import type { BrokerContext } from './context.ts'
import { performAction, reportFailure } from './perform.ts'
import { deleteUnusedRevisions } from './registries/delete-unused-revisions.ts'
import { type ResolvedService, retryOf } from './resolve-services.ts'
import { createWaitingWork } from './waiting-work.ts'

/** Tells the engine how this broker does an operation. */
export function createFindWork(broker: BrokerContext, hooks: readonly Hook[], random: () => number): FindWork {
  const { services, settings, store, observer } = broker
  return ({ operation, instance }) => {
    const { action, serviceId } = operation
    // An update is done by the revision that it leads to.
    const { revisionId = instance.revisionId } = operation.input
    const service = services.of({ serviceId, revisionId })
    if (service === undefined) return broker.registered && createWaitingWork(broker)
    const parts = { service, settings, store, hooks }
    const retry = retryOf(service, action, settings)
    return {
      perform: run => performAction({ run, ...parts }),
      onFailure: (run, error) =>
        reportFailure({ run, ...parts }, error, (hook, thrown) =>
          observer['hook.failed']?.({ ...operationFields(operation, instance), hook, error: toError(thrown) }),
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
      afterwards: action === 'deprovision' ? () => deleteRevisions(broker, service.revisionId) : undefined,
    }
  }
}

/** The instance may have been the last one that needed its revision. If this fails, the next purge tries again. */
async function deleteRevisions(
  { registered, store, observer }: BrokerContext,
  revisionId: string | undefined,
): Promise<void> {
  if (registered === undefined || revisionId === undefined || !registered.isOutdated(revisionId)) return
  try {
    await deleteUnusedRevisions(store)
  } catch (error) {
    observer['revision.deletionFailed']?.({ error: toError(error) })
  }
}

/** A tenth of jitter keeps instances that were created together from being observed together for ever. */
export function nextObservation(service: ResolvedService, now: number, random: () => number): number {
  return now + Math.round(service.observeEvery * (0.95 + 0.1 * random()))
}
