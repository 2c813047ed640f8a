import type { Hook } from '../author/broker-definition.ts'
import { decidePin } from '../domain/decide-pin.ts'
import { checkMaintenance } from '../domain/intent.ts'
import { newId } from '../domain/new-id.ts'
import type { ActionResult } from '../domain/outcome.ts'
import { TerminalError } from '../engine/errors.ts'
import { operationFields } from '../engine/operation-fields.ts'
import type { Run } from '../engine/run.ts'
import { createWait, type FindWork, type Wait, type Work } from '../engine/work.ts'
import { toError } from '../observer.ts'
import { BrokerError } from '../protocol/errors.ts'
import { RevisionGoneError } from '../store.ts'
import type { BrokerContext } from './context.ts'
import { findOffered } from './find-offered.ts'
import { performAction, reportFailure } from './perform.ts'
import { deleteRevisionsAfter } from './registries/delete-unused-revisions.ts'
import { type ResolvedService, retryOf, sweepDelay } from './resolve-services.ts'
import { checkParameters } from './service-schemas.ts'
import { secretsOf } from './service-secrets.ts'

/** Tells the engine how this broker does an operation. */
export function createFindWork(broker: BrokerContext, hooks: readonly Hook[], random: () => number): FindWork {
  const { services, settings, store, observer, storeNow } = broker
  return ({ operation, instance, binding }) => {
    const { action, serviceId } = operation
    // An update is done by the revision that it leads to.
    const { revisionId = instance.revisionId } = operation.input
    const service = services.of({ serviceId, revisionId })
    if (service === undefined) {
      // A service of the broker's own code that left it is no registry's to bring: nothing is taken for done without it.
      const mayCome = revisionId !== undefined || instance.awaitsCatalog === true || action === 'provision'
      return broker.registered && mayCome ? createWaitingWork(broker) : undefined
    }
    const parts = { service, settings, store, storeNow, hooks }
    const retry = retryOf(service, action, settings)
    return {
      perform: run => performAction({ ...parts, run }),
      onFailure: (run, error) =>
        reportFailure({ ...parts, run }, error, (hook, thrown) =>
          observer['hook.failed']?.({
            ...operationFields(operation, instance),
            hook,
            error: run.hide.error(toError(thrown, `the hook "${hook}"`)),
          }),
        ),
      // One look per observation: the next one is scheduled anyway.
      retry: action === 'observe' ? { ...retry, attempts: 1 } : retry,
      callTimeout: service.callTimeout,
      secrets: () =>
        secretsOf(service.sensitive, { parameters: [instance.parameters, operation.input.parameters], binding }),
      holds: service.holds,
      settlePolicy: now => ({
        sweepDelay: sweepDelay(service),
        sweepTimeout: settings.engine.timeouts.deprovision,
        sweepOperationId: newId(now),
        lateCalls: service.lateCalls,
        observeAt: service.code.observe && nextObservation(service, now, random),
      }),
      afterwards: action === 'deprovision' ? () => deleteRevisionsAfter(broker, service.revisionId) : undefined,
    }
  }
}

/** An observation that takes longer is given up; the next one tries again. */
export const observationTimeout = 10 * 60_000

/** A tenth of jitter keeps instances that were created together from being observed together for ever. */
export function nextObservation(service: ResolvedService, now: number, random: () => number): number {
  return now + Math.round(service.observeEvery * (0.95 + 0.1 * random()))
}

const lookAgainAfter = 1_000

/**
 * The work of an operation whose service this process does not know (yet): a provision that was accepted before the first
 * sync had ended, a deletion of such an instance, or a revision that this replica has not heard of.
 */
function createWaitingWork(broker: BrokerContext): Work {
  const { settings } = broker
  return {
    perform: run => waitForService(broker, run),
    onFailure: async () => {},
    retry: settings.engine.retry,
    callTimeout: settings.engine.callTimeout,
    settlePolicy: () => ({ lateCalls: false, sweepDelay: 0, sweepTimeout: 0, sweepOperationId: '' }),
  }
}

async function waitForService(broker: BrokerContext, run: Run): Promise<ActionResult | Wait> {
  const { operation, instance } = run.claim
  await broker.registered?.refresh()
  if (instance.revisionId !== undefined)
    // Parked, and claimed again by somebody who knows it.
    return createWait(lookAgainAfter, 'waiting for the revision that the instance is pinned to')
  // Nothing of it was ever done: there is nothing to undo.
  if (operation.action !== 'provision') return {}
  try {
    return await pin(broker, run)
  } catch (error) {
    // Another replica may have it in its code, if it has ever been worked on.
    if (error instanceof BrokerError && error.code === 'UnknownService' && instance.awaitsCatalog !== true)
      return createWait(lookAgainAfter, 'waiting for a broker that has the service')
    if (error instanceof BrokerError) throw new TerminalError(error.message, { status: error.status, cause: error })
    if (error instanceof RevisionGoneError) return createWait(lookAgainAfter, 'reading the catalog again')
    throw error
  }
}

/** The catalog is known: what could not be checked when the request came is checked now. */
async function pin(broker: BrokerContext, { claim }: Run): Promise<Wait> {
  const { operation, instance } = claim
  const offered = await findOffered(broker, instance.serviceId, instance.planId)
  if (offered.kind === 'later') {
    if (offered.refusal !== undefined) throw offered.refusal
    return createWait(lookAgainAfter, 'waiting for the catalog: the registries are being read')
  }
  const { service, plan, schemas } = offered
  const maintenanceVersion = plan.maintenanceInfo?.version
  checkMaintenance(operation.input.maintenanceVersion, maintenanceVersion)
  const parameters = (await checkParameters(schemas.create, instance.parameters))()
  const { revisionId } = service
  if (revisionId !== undefined) {
    const wanted = { operationId: operation.id, fence: operation.fence, revisionId, parameters, maintenanceVersion }
    await broker.store.accept({ instanceId: instance.id }, snapshot => decidePin(snapshot, wanted))
  }
  // It is claimed again with the row as it is now.
  return createWait(0, 'the catalog is known')
}
