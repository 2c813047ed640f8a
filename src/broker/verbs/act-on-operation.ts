import type { Snapshot, Verdict } from '../../domain/change.ts'
import { decideDeprovision } from '../../domain/decide-deprovision.ts'
import { decideUnbind } from '../../domain/decide-unbind.ts'
import {
  cancelled,
  decideCancelObservation,
  decideFail,
  decideRetry,
  decideRunNow,
  type VerbIntent,
} from '../../domain/decide-verb.ts'
import type { Instance } from '../../domain/instance.ts'
import type { DeletionAnswer, Intent } from '../../domain/intent.ts'
import { allowed, type OperationVerb } from '../../domain/judge-verb.ts'
import type { Operation } from '../../domain/operation.ts'
import type { Acting } from '../../domain/operator.ts'
import { BrokerError } from '../../protocol/errors.ts'
import { RevisionGoneError } from '../../store.ts'
import { accept, createIntent } from '../accept.ts'
import type { BrokerContext } from '../context.ts'
import { findOperation } from '../find-operation.ts'
import { createPlaceholder, type SettableAction } from '../resolve-services.ts'
import { tell } from './tell.ts'

/** The operation as it is after it, or the one that has come out of it. */
export type ActedOn = Pick<Operation, 'id'>

/** Due now instead of later. */
export function runOperationNow(broker: BrokerContext, acting: Acting, id: string): Promise<ActedOn> {
  return act(
    broker,
    acting,
    { verb: 'run-now', id },
    ({ intent }) =>
      snapshot =>
        decideRunNow(snapshot, intent),
  )
}

/** Fails as soon as nobody works on it any more. `message` is what the platform is told. */
export function failOperation(
  broker: BrokerContext,
  acting: Acting,
  { id, message }: { readonly id: string; readonly message: string },
): Promise<ActedOn> {
  return act(broker, acting, { verb: 'fail', id }, ({ intent }) => {
    return snapshot => decideFail(snapshot, { ...intent, message })
  })
}

/** The same once more, as a new operation. */
export async function retryOperation(broker: BrokerContext, acting: Acting, id: string): Promise<ActedOn> {
  try {
    return await act(broker, acting, { verb: 'retry', id }, ({ intent, intentFor, operation }) => {
      const { action } = operation
      if (action === 'observe' || action === 'sweep') return refuse('retry', intent)
      const begin = intentFor(action)
      return snapshot => decideRetry(snapshot, { ...intent, begin })
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
export function cancelOperation(broker: BrokerContext, acting: Acting, id: string): Promise<ActedOn> {
  return act(broker, acting, { verb: 'cancel', id }, ({ intent, intentFor, operation }) => {
    const { action, bindingId } = operation
    const message = `The ${action} was cancelled by an operator of the broker.`
    const undo = (snapshot: Snapshot, deletion: Verdict<DeletionAnswer>): Verdict<ActedOn> => {
      const before = allowed('cancel', operation, snapshot, intent)
      const { answer, change } = cancelled(deletion, before, acting)
      return { answer: answer.kind === 'accepted' ? answer.operation : before, change }
    }
    if (action === 'observe') return snapshot => decideCancelObservation(snapshot, intent)
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
function refuse(verb: OperationVerb, intent: VerbIntent): (snapshot: Snapshot) => Verdict<ActedOn> {
  return snapshot => ({ answer: allowed(verb, intent.operation, snapshot, intent) })
}

interface Known {
  readonly operation: Operation
  readonly intent: VerbIntent
  /** As if the platform of the instance asked for it. */
  readonly intentFor: (action: SettableAction) => Intent
}

async function act(
  broker: BrokerContext,
  acting: Acting,
  { verb, id }: { readonly verb: OperationVerb; readonly id: string },
  toDecide: (known: Known) => (snapshot: Snapshot) => Verdict<ActedOn>,
): Promise<ActedOn> {
  const operation = await findOperation(broker.store, id)
  const { instanceId, bindingId } = operation
  const instance = await broker.store.instance(instanceId)
  const intent = { ...acting, operation, cascade: broker.settings.osb.cascadeDelete }
  const decide = toDecide({
    operation,
    intent,
    intentFor: action => intentOf(broker, acting, operation, { action, instance }),
  })
  const target = { instanceId, bindingId }
  const after = await accept(broker, target, snapshot => {
    // Whatever else the decision would refuse it for, operators are told what the table says.
    allowed(verb, operation, snapshot, intent)
    return decide(snapshot)
  })
  tell(broker, verb, acting, { ...target, operationId: after.id })
  return after
}

function intentOf(
  broker: BrokerContext,
  { requestId }: Acting,
  { instanceId, serviceId, input }: Operation,
  { action, instance }: { readonly action: SettableAction; readonly instance: Instance | undefined },
): Intent {
  const { services, settings } = broker
  const revisionId = (action === 'update' ? input.revisionId : undefined) ?? instance?.revisionId
  const service = services.of({ serviceId, revisionId }) ?? createPlaceholder(serviceId, settings)
  const plan = service.plans.get(input.planId ?? instance?.planId ?? '')?.plan
  const caller = { platform: instance?.platform ?? '', identity: undefined, requestId, baseUrl: () => '' }
  return createIntent(broker, caller, { action, instanceId, service, plan, acceptsIncomplete: true })
}
