import { isActive, isHeld, type Operation, progressOf } from '../domain/operation.ts'
import type { Target } from '../ledger.ts'
import { BrokerError } from '../protocol/errors.ts'
import type { Binding, Instance, KnownRows } from '../store.ts'
import type { BrokerContext, Caller } from './context.ts'

/** What a poll is answered with. */
export interface Polled {
  readonly operation: PolledOperation
  /** Whole seconds until there can be news; absent once it has ended. */
  readonly retryAfter?: number
}

/** What an answer needs of an operation; a tombstone knows as much of the deletion that made it. */
export type PolledOperation = Pick<Operation, 'action' | 'state' | 'description' | 'error'>

type PollTarget = Pick<Target, 'instanceId' | 'bindingId'>

/** The resource that was asked about, and the operation that its state is told from. */
interface PolledRows {
  readonly resource: Instance | Binding
  readonly operation: Operation | undefined
}

/**
 * GET …/last_operation of an instance, or of a binding. Reads, and does nothing else: no poll, no difference. Where the store has
 * the rows at hand, the answer is there at once.
 */
export function lastOperation(
  broker: BrokerContext,
  caller: Caller,
  target: PollTarget,
  operationId: string | undefined,
): Polled | Promise<Polled> {
  const { known } = broker.store
  const rows = known && findKnown(known, caller, target, operationId)
  if (rows !== undefined) return toPolled(broker, target, rows)
  return readRows(broker, caller, target, operationId).then(read => toPolled(broker, target, read))
}

/** Undefined where anything is missing, or of somebody else: the ledger decides what that means. */
function findKnown(
  known: KnownRows,
  { platform }: Caller,
  target: PollTarget,
  operationId: string | undefined,
): PolledRows | undefined {
  const { instanceId, bindingId } = target
  const instance = known.instance(instanceId)
  if (instance === undefined || instance.platform !== platform) return undefined
  const resource = bindingId === undefined ? instance : known.binding(instanceId, bindingId)
  const named = operationId === undefined ? undefined : known.operation(operationId)
  if (resource === undefined || (operationId !== undefined && named === undefined)) return undefined
  const operation = isOf(target, named) ? named : known.operation(resource.lastOperationId)
  return operation && { resource, operation }
}

async function readRows(
  { store }: BrokerContext,
  caller: Caller,
  target: PollTarget,
  operationId: string | undefined,
): Promise<PolledRows> {
  const { instanceId, bindingId } = target
  const named = operationId === undefined ? undefined : await store.operation(operationId)
  const instance = await store.instance(instanceId)
  if (instance?.platform !== caller.platform) throw unknown(target)
  const resource = bindingId === undefined ? instance : await store.binding(instanceId, bindingId)
  if (resource === undefined) throw unknown(target)
  return { resource, operation: isOf(target, named) ? named : await store.operation(resource.lastOperationId) }
}

function toPolled(
  { settings, storeNow }: BrokerContext,
  target: PollTarget,
  { resource, operation }: PolledRows,
): Polled {
  if (resource.phase === 'deleted' && isDeletion(operation) && operation?.state !== 'failed') {
    const forgotten = storeNow() - (resource.deletedAt ?? 0) > settings.osb.rememberDeleted
    if (forgotten || settings.osb.pollAfterDelete === 'gone') throw gone(target)
  }
  if (operation === undefined) return { operation: deletionOf(target, resource.phase) }
  if (!isActive(operation)) return { operation }
  // A platform that waits is always told what for.
  const description = operation.description || progressOf(operation)
  return { operation: { ...operation, description }, retryAfter: retryAfter(operation, storeNow()) }
}

/** Observations and sweeps are the broker's own business. */
function isOf({ instanceId, bindingId }: PollTarget, named: Operation | undefined): named is Operation {
  const belongs = named?.instanceId === instanceId && named.bindingId === bindingId
  return belongs && named.action !== 'observe' && named.action !== 'sweep'
}

function isDeletion(operation: Operation | undefined): boolean {
  return operation === undefined || operation.action === 'deprovision' || operation.action === 'unbind'
}

/**
 * The operation was cleaned up, which happens to the latest one of a resource only when that is deleted. Where it was not
 * yet when it was read, it has changed since: a platform polls again.
 */
function deletionOf(target: PollTarget, phase: string): PolledOperation {
  if (phase !== 'deleted')
    throw new BrokerError('ConcurrencyError', 'It changed while it was read. Repeat the request.')
  return { action: target.bindingId === undefined ? 'deprovision' : 'unbind', state: 'succeeded' }
}

/** A parked operation can have no news before it is due, but a held one can; others are asked less often the longer it takes. */
function retryAfter(operation: Operation, now: number): number {
  const waiting = Math.ceil((operation.notBefore - now) / 1000)
  if (operation.state === 'queued' && waiting > 1 && !isHeld(operation)) return waiting
  const age = (now - operation.acceptedAt) / 1000
  return Math.max(1, Math.min(10, Math.floor(age / 10)))
}

function unknown({ bindingId }: PollTarget): BrokerError {
  return bindingId === undefined
    ? new BrokerError('InstanceNotFound', 'There is no instance with this id.')
    : new BrokerError('BindingNotFound', 'There is no binding with this id.')
}

function gone({ bindingId }: PollTarget): BrokerError {
  return bindingId === undefined
    ? new BrokerError('InstanceGone', 'The instance has been deleted.')
    : new BrokerError('BindingGone', 'The binding has been deleted.')
}
