import { BrokerError, type ErrorCode } from '../protocol/errors.ts'
import { type Json, toCanonicalJson } from '../protocol/json.ts'
import type { Binding } from './binding.ts'
import type { Change, Snapshot, Verdict } from './change.ts'
import { firstNotice } from './expiry.ts'
import { conditionAt, type Instance, liveInstance } from './instance.ts'
import { busy, doneByHand, quietAt, stillSwept } from './intent.ts'
import type { Operation } from './operation.ts'
import { type Acting, acted } from './operator.ts'

/** What another broker knew of an instance: what is compared where the id is here already. */
const instanceContent = [
  'platform',
  'serviceId',
  'planId',
  'context',
  'parameters',
  'state',
  'dashboardUrl',
  'metadata',
  'maintenanceVersion',
] as const satisfies readonly (keyof Instance)[]

const bindingContent = [
  'serviceId',
  'planId',
  'context',
  'bindResource',
  'appGuid',
  'parameters',
  'state',
  'result',
] as const satisfies readonly (keyof Binding)[]

export type AdoptedInstance = Pick<
  Instance,
  (typeof instanceContent)[number] | 'id' | 'requestHash' | 'revisionId' | 'dashboardToken'
> & { readonly createdAt?: number; readonly observed: boolean }

export type AdoptedBinding = Pick<
  Binding,
  (typeof bindingContent)[number] | 'id' | 'requestHash' | 'expiresAt' | 'renewBefore'
> & {
  readonly createdAt?: number
}

interface AdoptIntent extends Acting {
  /** The ids of what answers polls from now on. */
  readonly newId: () => string
  /** Nothing is written. */
  readonly dryRun: boolean
}

export interface AdoptInstanceIntent extends AdoptIntent {
  readonly instance: AdoptedInstance
  readonly bindings: readonly AdoptedBinding[]
}

export interface AdoptBindingIntent extends AdoptIntent {
  readonly instanceId: string
  readonly binding: AdoptedBinding
}

/** Whether it is new here. What is here already with the same content is left as it is. */
export type AdoptAnswer = 'adopted' | 'unchanged'

/**
 * Takes over an instance that another broker made, with its bindings: nothing is run, and from here on it is as if it had been
 * provisioned here. Where the id is known already, only the same content is let pass, and the bindings are decided one by one.
 */
export function decideAdopt(snapshot: Snapshot, intent: AdoptInstanceIntent): Verdict<AdoptAnswer> {
  const { instance: known, operation, now } = snapshot
  const { instance: given } = intent
  if (known !== undefined && known.phase !== 'deleted') {
    const others = differences(instanceContent, known, given)
    refuseOther('InstanceConflict', 'An instance', known.created ? others : ['created', ...others])
    return { answer: 'unchanged' }
  }
  // A deletion of before, of the instance or of a binding, may still remove something.
  if (operation !== undefined || snapshot.sweptBindings > 0 || quietAt(known, now) !== undefined)
    throw stillSwept('instance')
  if (intent.dryRun) return { answer: 'adopted' }
  const { observed, createdAt = now, ...content } = given
  const done = adopted(intent, 'provision', now, { ...given, instanceId: given.id })
  const row: Instance = {
    ...content,
    phase: 'ready',
    created: true,
    usable: true,
    conditions: [],
    lastOperationId: done.id,
    observeAt: observed ? now : undefined,
    createdAt,
    updatedAt: now,
  }
  const instance = { ...row, conditions: [conditionAt(now, row, { type: 'Ready', status: true, reason: 'Adopted' })] }
  const { serviceId: service, planId: plan, revisionId: revision } = instance
  const event = acted('adopt', intent, {
    at: now,
    instanceId: given.id,
    operationId: done.id,
    action: 'provision',
    before: known === undefined ? {} : { phase: known.phase },
    after: { phase: 'ready', service, plan, revision },
  })
  const changes = intent.bindings.map(binding => addBinding({ ...intent, instanceId: given.id, binding }, now))
  return {
    answer: 'adopted',
    change: {
      instance,
      bindings: changes.flatMap(({ bindings }) => bindings),
      operations: [done, ...changes.flatMap(({ operations }) => operations)],
      history: [event, ...changes.flatMap(({ history }) => history)],
    },
  }
}

/** The same for a binding of an instance that is here. */
export function decideAdoptBinding(snapshot: Snapshot, intent: AdoptBindingIntent): Verdict<AdoptAnswer> {
  const { binding: known, bindingOperation, operation, now } = snapshot
  const { binding: given } = intent
  const instance = liveInstance(snapshot.instance)
  if (known !== undefined && known.phase !== 'deleted') {
    refuseOther('BindingConflict', 'A binding', differences(bindingContent, known, given))
    return { answer: 'unchanged' }
  }
  if (instance.serviceId !== given.serviceId || instance.planId !== given.planId)
    throw new BrokerError('MalformedRequest', 'service_id and plan_id are not those of the instance.')
  if (operation !== undefined && operation.action !== 'observe') throw busy(operation, 'The instance')
  if (bindingOperation !== undefined || quietAt(known, now) !== undefined) throw stillSwept('binding')
  return { answer: 'adopted', change: intent.dryRun ? undefined : addBinding(intent, now) }
}

type Added = Required<Pick<Change, 'bindings' | 'operations' | 'history'>>

function addBinding(intent: AdoptBindingIntent, now: number): Added {
  const { instanceId } = intent
  const { createdAt = now, ...content } = intent.binding
  const { id: bindingId, serviceId: service, planId: plan } = content
  const done = adopted(intent, 'bind', now, { ...content, instanceId, bindingId })
  const event = acted('adopt', intent, {
    at: now,
    instanceId,
    bindingId,
    operationId: done.id,
    action: 'bind',
    before: {},
    after: { phase: 'ready', service, plan },
  })
  const row: Binding = {
    ...content,
    instanceId,
    phase: 'ready',
    lastOperationId: done.id,
    createdAt,
    updatedAt: now,
    noticeAt: firstNotice(content),
  }
  return { bindings: [row], operations: [done], history: [event] }
}

/** What polls of its creation find, as if it had run here. */
function adopted(
  { newId, requestId }: AdoptIntent,
  action: 'provision' | 'bind',
  now: number,
  row: Pick<Operation, 'instanceId' | 'bindingId' | 'serviceId'>,
): Operation {
  const { instanceId, bindingId, serviceId } = row
  const made = { operationId: newId(), instanceId, serviceId, requestId }
  return doneByHand(made, action, now, { verb: 'adopt', description: 'made by another broker', bindingId })
}

/** Names only: the values may be secret. */
function differences<Key extends string>(
  keys: readonly Key[],
  known: Readonly<Partial<Record<Key, unknown>>>,
  given: Readonly<Partial<Record<Key, unknown>>>,
): string[] {
  const textOf = (value: unknown) => toCanonicalJson(value as Json | undefined)
  return keys.filter(key => textOf(known[key]) !== textOf(given[key]))
}

function refuseOther(code: ErrorCode, what: string, others: readonly string[]): void {
  if (others.length === 0) return
  throw new BrokerError(code, `${what} with this id is here already, and is another one: ${others.join(', ')} differ.`)
}
