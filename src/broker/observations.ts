import { decideObserve } from '../domain/decide-observe.ts'
import type { Intent } from '../domain/intent.ts'
import { newId } from '../domain/new-id.ts'
import { messageOf } from '../engine/errors.ts'
import type { Broker } from './broker.ts'
import { nextObservation } from './find-work.ts'

const batch = 100
const lookEveryMs = 1_000
/** An observation that takes longer is given up; the next one tries again. */
const observationTimeoutMs = 10 * 60_000

/**
 * Turns due observations into operations, which any replica then claims. Several replicas may look at the same time: the
 * decision is made under the instance's lock, so each observation becomes one operation.
 */
export function startObservations(broker: Broker, random: () => number): () => void {
  let cancel = () => {}
  let stopped = false
  const schedule = () => {
    if (!stopped) cancel = broker.clock.after(lookEveryMs, () => void look().finally(schedule))
  }
  const look = async () => {
    try {
      for (const instanceId of await broker.store.dueForObservation(batch)) await begin(broker, instanceId, random)
    } catch (error) {
      broker.observer.error('can not look for due observations', { error: messageOf(error) })
    }
  }
  schedule()
  return () => {
    stopped = true
    cancel()
  }
}

async function begin(broker: Broker, instanceId: string, random: () => number): Promise<void> {
  const instance = await broker.store.instance(instanceId)
  const service = instance === undefined ? undefined : broker.services.find(instance.serviceId)
  if (instance === undefined) return
  const now = broker.clock.now()
  const intent: Intent = {
    operationId: newId(now),
    platform: instance.platform,
    instanceId,
    serviceId: instance.serviceId,
    requestHash: '',
    acceptsIncomplete: true,
    mode: 'always',
    timeoutMs: observationTimeoutMs,
  }
  const at = service === undefined ? now + broker.settings.observeEveryMs : nextObservation(service, now, random)
  const next = { at, possible: service?.code.observe !== undefined }
  await broker.store.accept({ instanceId }, snapshot => decideObserve(snapshot, intent, next))
}
