import type { Operation } from '../domain/operation.ts'
import { awaitOperation } from '../engine/await-operation.ts'
import { BrokerError } from '../protocol/errors.ts'
import type { BrokerContext } from './context.ts'

/**
 * A synchronous request waits on the same durable operation that an asynchronous one would poll. Resolves when it has
 * succeeded. A client that hangs up, or a timeout here, does not end the operation: a later DELETE does.
 */
export async function waitForEnd(broker: BrokerContext, operation: Operation): Promise<void> {
  const { store, clock, settings, stopping } = broker
  const timeout = settings.server.syncTimeout
  const ended = await awaitOperation(operation.id, { store, clock, timeout, signal: stopping })
  if (ended === 'gone') return explainMissing(broker, operation)
  if (ended?.state === 'succeeded') return
  if (ended?.state === 'failed') throw failure(ended)
  if (ended?.state === 'superseded')
    throw new BrokerError('ConcurrencyError', 'A deletion has taken over from this request.')
  if (stopping.aborted)
    throw new BrokerError('ShuttingDown', 'This broker is being stopped; the operation goes on elsewhere or later.', {
      retryAfter: 5,
    })
  throw new BrokerError(
    'StillRunning',
    'The operation is still running. Poll its last_operation, or repeat the request with accepts_incomplete=true.',
  )
}

/** Cleaned up between its end and our look: a deletion that has succeeded, or one that something else came after. */
async function explainMissing({ store }: BrokerContext, { action, instanceId, bindingId }: Operation): Promise<void> {
  const resource =
    bindingId === undefined ? await store.instance(instanceId) : await store.binding(instanceId, bindingId)
  const deletes = action === 'deprovision' || action === 'unbind'
  if (deletes && (resource === undefined || resource.phase === 'deleted')) return
  throw new BrokerError('ConcurrencyError', 'Another request has taken over from this one. Repeat it.')
}

function failure({ action, error, description }: Operation): BrokerError {
  const message = error?.message ?? description ?? `The ${action} failed.`
  const mayBreak = action === 'update' || action === 'deprovision'
  return new BrokerError(error?.status === undefined ? 'ActionFailed' : 'ActionRefused', message, {
    status: error?.status,
    instanceUsable: mayBreak ? error?.instanceUsable : undefined,
    updateRepeatable: action === 'update' ? error?.updateRepeatable : undefined,
  })
}
