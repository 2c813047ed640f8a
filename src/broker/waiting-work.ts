import { decidePin } from '../domain/decide-pin.ts'
import { checkMaintenance } from '../domain/intent.ts'
import type { ActionResult } from '../domain/outcome.ts'
import { TerminalError } from '../engine/errors.ts'
import type { Run } from '../engine/run.ts'
import { createWait, type Wait, type Work } from '../engine/work.ts'
import { BrokerError } from '../protocol/errors.ts'
import { RevisionGoneError } from '../store.ts'
import type { BrokerContext } from './context.ts'
import { findOffered } from './find-offered.ts'
import { checkParameters } from './service-schemas.ts'

const lookAgainAfter = 1_000

/**
 * The work of an operation whose service this process does not know (yet): a provision that was accepted before the first
 * sync had ended, a deletion of such an instance, or a revision that this replica has not heard of.
 */
export function createWaitingWork(broker: BrokerContext): Work {
  const { settings } = broker
  return {
    perform: run => perform(broker, run),
    onFailure: async () => {},
    retry: settings.engine.retry,
    callTimeout: settings.engine.callTimeout,
    settlePolicy: () => ({ lateCalls: false, sweepDelay: 0, sweepTimeout: 0, sweepOperationId: '' }),
  }
}

async function perform(broker: BrokerContext, run: Run): Promise<ActionResult | Wait> {
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
