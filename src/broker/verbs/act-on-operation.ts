import type { Snapshot, Verdict } from '../../domain/change.ts'
import { decideDeprovision } from '../../domain/decide-deprovision.ts'
import { decideUnbind } from '../../domain/decide-unbind.ts'
import {
  cancelled,
  decideCancelObservation,
  decideFail,
  decideHold,
  decideRelease,
  decideRetry,
  decideRunNow,
  type VerbIntent,
} from '../../domain/decide-verb.ts'
import type { Instance } from '../../domain/instance.ts'
import type { DeletionAnswer, Intent } from '../../domain/intent.ts'
import { allowed, type OperationVerb, operationNow } from '../../domain/judge-verb.ts'
import { isActive, type Operation } from '../../domain/operation.ts'
import { type Acting, checkSeen, remembered } from '../../domain/operator.ts'
import { BrokerError } from '../../protocol/errors.ts'
import { RevisionGoneError } from '../../store.ts'
import { accept, createIntent } from '../accept.ts'
import type { BrokerContext } from '../context.ts'
import { findOperation } from '../find-operation.ts'
import { createPlaceholder, type SettableAction, sweepDelay } from '../resolve-services.ts'
import { tell } from './tell.ts'

/** Due now instead of later. */
export const runOperationNow = actor('run-now', decideRunNow)

/** Nobody runs it until it is released, or its time is up. */
export const holdOperation = actor('hold', decideHold)

/** Goes on where it was, with all of its retries. */
export const releaseOperation = actor('release', decideRelease)

function actor(verb: OperationVerb, decide: (snapshot: Snapshot, intent: VerbIntent) => Verdict<Operation>) {
  return (broker: BrokerContext, acting: Acting, id: string): Promise<Operation> =>
    act(broker, acting, { verb, id }, ({ intent }) => {
      return snapshot => decide(snapshot, intent)
    })
}

/** Fails as soon as nobody works on it any more. `message` is what the platform is told. */
export function failOperation(
  broker: BrokerContext,
  acting: Acting,
  { id, message }: { readonly id: string; readonly message: string },
): Promise<Operation> {
  return act(broker, acting, { verb: 'fail', id }, ({ intent }) => {
    return snapshot => decideFail(snapshot, { ...intent, message })
  })
}

/** The same once more, as a new operation; one that is held goes on. */
export async function retryOperation(broker: BrokerContext, acting: Acting, id: string): Promise<Operation> {
  try {
    return await act(broker, acting, { verb: 'retry', id }, ({ intent, intentFor, operation }) => {
      const { action } = operation
      if (action === 'observe' || action === 'sweep') return refuse('retry', intent)
      const begin = intentFor(action)
      return snapshot =>
        isActive(allowed('retry', operation, snapshot, intent))
          ? decideRelease(snapshot, intent, 'retry')
          : decideRetry(snapshot, { ...intent, begin })
    })
  } catch (error) {
    if (!(error instanceof RevisionGoneError)) throw error
    throw new BrokerError('VerbRefused', 'The revision that it led to is not stored any more.')
  }
}

/**
 * Stops an operation and undoes what it has done. Of a provision or a bind that is what a DELETE of the platform would do; an
 * update fails, and an observation just ends.
 */
export function cancelOperation(broker: BrokerContext, acting: Acting, id: string): Promise<Operation> {
  return act(broker, acting, { verb: 'cancel', id }, ({ intent, intentFor, operation, instance }) => {
    const { action, bindingId } = operation
    const message = `The ${action} was cancelled by an operator of the broker.`
    const undo = (snapshot: Snapshot, deletion: Verdict<DeletionAnswer>): Verdict<Operation> => {
      const before = allowed('cancel', operation, snapshot, intent)
      const { answer, change } = cancelled(deletion, before, acting)
      return { answer: answer.kind === 'accepted' ? answer.operation : before, change }
    }
    if (action === 'observe') {
      const service =
        broker.services.of(instance ?? operation) ?? createPlaceholder(operation.serviceId, broker.settings)
      const landsWithin = sweepDelay(service)
      return snapshot => decideCancelObservation(snapshot, { ...intent, landsWithin })
    }
    if (action === 'update') return snapshot => decideFail(snapshot, { ...intent, message }, 'cancel')
    if (action === 'provision') {
      const deletion = { ...intentFor('deprovision'), cascade: false, forceUnknown: false }
      return snapshot => undo(snapshot, decideDeprovision(snapshot, deletion))
    }
    if (action !== 'bind' || bindingId === undefined) return refuse('cancel', intent)
    const deletion = { ...intentFor('unbind'), bindingId, forceUnknown: false }
    return snapshot => undo(snapshot, decideUnbind(snapshot, deletion))
  })
}

/** What the table refuses whatever the ledger holds. */
function refuse(verb: OperationVerb, intent: VerbIntent): (snapshot: Snapshot) => Verdict<Operation> {
  return snapshot => ({ answer: allowed(verb, intent.operation, snapshot, intent) })
}

interface Known {
  readonly operation: Operation
  readonly instance: Instance | undefined
  readonly intent: VerbIntent
  /** As if the platform of the instance asked for it. */
  readonly intentFor: (action: SettableAction) => Intent
}

async function act(
  broker: BrokerContext,
  acting: Acting,
  { verb, id }: { readonly verb: OperationVerb; readonly id: string },
  toDecide: (known: Known) => (snapshot: Snapshot) => Verdict<Operation>,
): Promise<Operation> {
  const operation = await findOperation(broker.store, id)
  const { instanceId, bindingId } = operation
  const instance = await broker.store.instance(instanceId)
  const intent = { ...acting, operation, cascade: broker.settings.osb.cascadeDelete }
  const decide = toDecide({
    operation,
    instance,
    intent,
    intentFor: action => intentOf(broker, acting, operation, { action, instance }),
  })
  const target = { instanceId, bindingId }
  const after = await accept(broker, target, snapshot => {
    checkSeen(acting, operationNow(operation, snapshot))
    // Whatever else the decision would refuse it for, operators are told what the table says.
    allowed(verb, operation, snapshot, intent)
    return remembered(acting, decide(snapshot))
  })
  tell(broker, verb, acting, { ...target, operationId: after.id })
  return after
}

function intentOf(
  broker: BrokerContext,
  { requestId, traceparent }: Acting,
  { instanceId, serviceId, input }: Operation,
  { action, instance }: { readonly action: SettableAction; readonly instance: Instance | undefined },
): Intent {
  const { services, settings } = broker
  const revisionId = (action === 'update' ? input.revisionId : undefined) ?? instance?.revisionId
  const service = services.of({ serviceId, revisionId }) ?? createPlaceholder(serviceId, settings)
  const plan = service.plans.get(input.planId ?? instance?.planId ?? '')?.plan
  const caller = { platform: instance?.platform ?? '', identity: undefined, requestId, traceparent, baseUrl: () => '' }
  return createIntent(broker, caller, { action, instanceId, service, plan, acceptsIncomplete: true })
}
