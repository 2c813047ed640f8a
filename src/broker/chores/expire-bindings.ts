import { decideExpiry, type ExpiryAnswer } from '../../domain/decide-expiry.ts'
import type { Instance } from '../../domain/instance.ts'
import type { ChoreRun } from '../../engine/chore-run.ts'
import { BrokerError } from '../../protocol/errors.ts'
import { count } from '../../shape/count.ts'
import { messageOf } from '../../shape/thrown.ts'
import { type ExpiringBinding, StoreUnavailableError } from '../../store.ts'
import { accept, createIntent } from '../accept.ts'
import type { BrokerContext, Caller } from '../context.ts'

const batchSize = 100
/** What expires all at once fills no queue: the rest is for the next run. */
const mostInOneRun = 1_000

/** Until a binding that has expired, and is still there, is looked at again: where the broker unbinds it, and where it does not. */
const retryAfter = 3_600_000
const lookAgainAfter = 24 * 3_600_000
const pauseWhileBusy = 60_000

/**
 * Tells of bindings that should be rotated or have expired, and unbinds them where their service wants that: as a platform
 * would, by an operation that any replica runs. What is decided about each is decided under its instance's lock. One that cannot
 * be looked at keeps no other one from its end.
 */
export async function expireBindings(broker: BrokerContext, { signal }: ChoreRun): Promise<string | undefined> {
  const done = { soon: 0, expired: 0, unbound: 0 }
  const failures = new Map<string, Failure>()
  for (let looked = 0; looked < mostInOneRun; ) {
    // What failed is due still, before all others.
    const all = await broker.store.dueForExpiry(batchSize + failures.size)
    const due = all.filter(binding => !failures.has(keyOf(binding)))
    for (const binding of due) {
      signal.throwIfAborted()
      try {
        const { told, operation } = await look(broker, binding)
        if (told === 'expiring') done.soon += 1
        if (told === 'expired') done.expired += 1
        if (operation !== undefined) done.unbound += 1
      } catch (error) {
        if (error instanceof StoreUnavailableError) throw error
        failures.set(keyOf(binding), { ...binding, error })
      }
    }
    looked += due.length
    if (due.length < batchSize) break
  }
  const [first] = failures.values()
  if (first !== undefined) throw toFailed(first, failures.size)
  const said = [
    done.soon > 0 && `${count(done.soon, 'binding')} should be rotated`,
    done.expired > 0 && `${count(done.expired, 'binding')} expired`,
    done.unbound > 0 && `began ${count(done.unbound, 'unbind')}`,
  ]
  return said.filter(words => words !== false).join(', ') || undefined
}

interface Failure extends ExpiringBinding {
  readonly error: unknown
}

function keyOf({ instanceId, id }: ExpiringBinding): string {
  return JSON.stringify([instanceId, id])
}

function toFailed({ instanceId, id, error: cause }: Failure, all: number): Error {
  const where = `The first one is ${id} of the instance ${instanceId}: ${messageOf(cause)}`
  return new Error(`${count(all, 'binding')} could not be looked at. ${where}`, { cause })
}

async function look(broker: BrokerContext, { instanceId, id: bindingId }: ExpiringBinding): Promise<ExpiryAnswer> {
  const instance = await broker.store.instance(instanceId)
  if (instance === undefined) return {}
  const target = { instanceId, bindingId }
  const intent = { pause: lookAgainAfter, pauseWhileBusy, by: 'chore expiry' }
  const unbinding = unbindingOf(broker, instance, bindingId)
  const answer = await accept(
    broker,
    target,
    snapshot => decideExpiry(snapshot, { ...intent, ...unbinding?.intent }),
    unbinding?.caller,
  ).catch(error => {
    if (unbinding === undefined || !(error instanceof BrokerError)) throw error
    // A gate is closed, or its service has left: it is told of, and tried again later.
    return accept(broker, target, snapshot => decideExpiry(snapshot, { ...intent, pause: retryAfter }))
  })
  tell(broker, instance, answer)
  return answer
}

/** What the chore asks for, in the place of the platform: nobody waits for it. Undefined where the service does not want it. */
function unbindingOf(broker: BrokerContext, instance: Instance, bindingId: string) {
  const service = broker.services.of(instance)
  if (service?.bindings.unbindExpired !== true) return undefined
  const { id: instanceId, platform } = instance
  const caller: Caller = { platform, identity: undefined, requestId: undefined, baseUrl: () => '' }
  const asked = { action: 'unbind', instanceId, service, acceptsIncomplete: true } as const
  const unbind = { ...createIntent(broker, caller, asked), mode: 'always', bindingId, forceUnknown: false } as const
  return { caller, intent: { unbind, pause: retryAfter } }
}

/** The history has the same, in the transaction that says so. */
function tell({ observer }: BrokerContext, { platform }: Instance, { told, binding, operation }: ExpiryAnswer): void {
  if (told === undefined || binding?.expiresAt === undefined) return
  const { instanceId, id: bindingId, serviceId, planId, expiresAt } = binding
  const fields = { instanceId, bindingId, serviceId, planId, platform, expiresAt }
  if (told === 'expiring') observer['binding.expiresSoon']?.(fields)
  else observer['binding.expired']?.({ ...fields, operationId: operation?.id })
}
