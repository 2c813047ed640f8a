import type { Binding } from '../../domain/binding.ts'
import type { HistoryEvent } from '../../domain/change.ts'
import { checkAbandon } from '../../domain/decide-abandon.ts'
import { decideMove } from '../../domain/decide-move.ts'
import { decideObserveNow } from '../../domain/decide-observe.ts'
import { decideSweep } from '../../domain/decide-sweep.ts'
import type { Instance } from '../../domain/instance.ts'
import { judgeVerb, type OperationVerb, operationVerbs } from '../../domain/judge-verb.ts'
import { isActive, type Operation, progressOf, type Step } from '../../domain/operation.ts'
import type { InstanceVerb, Verb } from '../../domain/operator.ts'
import { versionOf } from '../../domain/row-version.ts'
import { BrokerError } from '../../protocol/errors.ts'
import type { Reads } from '../../reads.ts'
import type { BrokerContext } from '../context.ts'
import { findOperation } from '../find-operation.ts'
import { findTarget } from './move.ts'
import { observationOf } from './observe.ts'
import { sweepOf } from './sweep.ts'

/** What a verb would be answered with now: `reason` is why it would be refused. */
export type AllowedActions<Of extends Verb> = Readonly<
  Record<Of, { readonly allowed: boolean; readonly reason?: string }>
>

/** Without what is sealed, and without the token of the dashboard. */
export type ShownInstance = Omit<Instance, 'parameters' | 'state' | 'dashboardToken' | 'requestHash'>
export type ShownBinding = Omit<Binding, 'parameters' | 'state' | 'result' | 'requestHash' | 'bindResource'>
export type ShownOperation = Omit<Operation, 'input' | 'requestHash'>
export type ShownStep = Omit<Step, 'output' | 'shown'>

export async function showOperation(broker: BrokerContext, id: string) {
  const { store, settings } = broker
  const found = await findOperation(store, id)
  const { instanceId, bindingId } = found
  const cascade = settings.osb.cascadeDelete
  const { operation, refusals } = await store.accept({ instanceId, bindingId }, snapshot => {
    const active = [snapshot.operation, snapshot.bindingOperation].find(each => each?.id === id)
    const judged = active ?? found
    return {
      answer: {
        operation: judged,
        refusals: operationVerbs.map(verb => [verb, judgeVerb(verb, judged, snapshot, { cascade })] as const),
      },
    }
  })
  return {
    operation: toShownOperation(operation),
    version: versionOf(operation),
    steps: (await store.steps(id)).map(toShownStep),
    waitingFor: waitingFor(operation),
    allowedActions: toAllowed<OperationVerb>(refusals),
  }
}

/** In words; undefined where it has ended. */
export function waitingFor(operation: Operation): string | undefined {
  return isActive(operation) ? (operation.description ?? progressOf(operation)) : undefined
}

export async function showInstance(broker: BrokerContext, id: string) {
  const { store } = broker
  const instance = await store.instance(id)
  if (instance === undefined) throw new BrokerError('InstanceNotFound', 'There is no instance with this id.')
  const [bindings, last] = await Promise.all([store.bindings(id), store.operation(instance.lastOperationId)])
  const refusals = await judgeInstance(broker, instance, { bindings: true })
  const { parameters: _given, state: _state, dashboardToken: _token, requestHash: _hash, ...shown } = instance
  return {
    instance: shown satisfies ShownInstance,
    version: versionOf(instance),
    bindings: bindings.map(toShownBinding),
    lastOperation: last && toShownOperation(last),
    allowedActions: toAllowed<InstanceVerb>(refusals),
  }
}

/** What each verb would be refused with now. */
export async function judgeInstance(
  broker: BrokerContext,
  instance: Instance,
  { revision, bindings }: { readonly revision?: string; readonly bindings: boolean },
): Promise<readonly (readonly [InstanceVerb, string | undefined])[]> {
  const to = await tried(() => findTarget(broker, instance.id, revision))
  const observing = { by: '', ...observationOf(broker, instance) }
  const sweeping = { by: '', ...(await sweepOf(broker, instance)) }
  return broker.store.accept({ instanceId: instance.id }, snapshot => ({
    answer: [
      ['move', 'refused' in to ? to.refused : refusalOf(() => decideMove(snapshot, { by: '', to: to.value }))],
      ['abandon', refusalOf(() => checkAbandon(snapshot, { bindings }))],
      ['observe', refusalOf(() => decideObserveNow(snapshot, observing))],
      ['sweep', refusalOf(() => decideSweep(snapshot, sweeping))],
    ],
  }))
}

function toShownBinding(binding: Binding): ShownBinding {
  const {
    parameters: _given,
    state: _state,
    result: _result,
    requestHash: _hash,
    bindResource: _of,
    ...shown
  } = binding
  return shown
}

function toShownStep({ output: _output, shown: _shown, ...step }: Step): ShownStep {
  return step
}

export function toShownOperation({ input: _input, requestHash: _hash, ...shown }: Operation): ShownOperation {
  return shown
}

/** One thing that happened to an operation: a line of the history, or a step as it stands. */
export type TimelineEvent = (Omit<HistoryEvent, 'instanceId'> | (ShownStep & { readonly type: 'step' })) & {
  readonly at: number
}

export async function readTimeline(store: Reads, id: string) {
  const operation = await findOperation(store, id)
  const [history, steps] = await Promise.all([store.history(operation.instanceId), store.steps(id)])
  const lines = history
    .filter(({ operationId, before }) => operationId === id || before?.operation === id)
    .map(({ instanceId: _instance, ...line }): TimelineEvent => line)
  const done = steps.map(toShownStep).map((step): TimelineEvent => ({ at: step.startedAt, type: 'step', ...step }))
  // Of what has the same time, in the order in which it can have happened.
  const begins = lines.findLastIndex(({ type }) => type === 'accepted') + 1
  const events = [...lines.slice(0, begins), ...done, ...lines.slice(begins)]
  return { operation, events: events.sort((one, other) => one.at - other.at) }
}

function toAllowed<Of extends Verb>(refusals: readonly (readonly [Of, string | undefined])[]): AllowedActions<Of> {
  const entries = refusals.map(([verb, reason]) => [verb, { allowed: reason === undefined, reason }] as const)
  return Object.fromEntries(entries) as AllowedActions<Of>
}

function refusalOf(decide: () => unknown): string | undefined {
  try {
    decide()
    return undefined
  } catch (error) {
    if (error instanceof BrokerError) return error.message
    throw error
  }
}

async function tried<Value>(
  find: () => Promise<Value>,
): Promise<{ readonly value: Value } | { readonly refused: string }> {
  try {
    return { value: await find() }
  } catch (error) {
    if (error instanceof BrokerError) return { refused: error.message }
    throw error
  }
}
