import { decideObserve } from '../../domain/decide-observe.ts'
import { newId } from '../../domain/new-id.ts'
import type { ChoreRun } from '../../engine/chore-run.ts'
import { count } from '../../engine/errors.ts'
import { accept } from '../accept.ts'
import type { BrokerContext } from '../context.ts'
import { nextObservation } from '../find-work.ts'

const batch = 100
/** An observation that takes longer is given up; the next one tries again. */
const observationTimeout = 10 * 60_000

/**
 * Turns due observations into operations, which any replica then claims. The decision is made under the instance's lock,
 * so that each observation becomes one operation, also where a run is taken over from one that is not dead.
 */
export async function observeDue(
  broker: BrokerContext,
  { signal, now }: ChoreRun,
  random: () => number,
): Promise<string | undefined> {
  let begun = 0
  while (true) {
    const due = await broker.store.dueForObservation(batch)
    for (const instanceId of due) {
      signal.throwIfAborted()
      if (await begin(broker, instanceId, now(), random)) begun += 1
    }
    if (due.length < batch) return begun === 0 ? undefined : `began ${count(begun, 'observation')}`
  }
}

/** The next one is scheduled by the store's clock, as the ledger compares it with that. */
async function begin(broker: BrokerContext, instanceId: string, now: number, random: () => number): Promise<boolean> {
  const instance = await broker.store.instance(instanceId)
  if (instance === undefined) return false
  const service = broker.services.of(instance)
  const { serviceId } = instance
  const intent = { operationId: newId(now), instanceId, serviceId, requestHash: '', timeout: observationTimeout }
  const at = service === undefined ? now + broker.settings.engine.observeEvery : nextObservation(service, now, random)
  const next = { at, possible: service?.code.observe !== undefined }
  return accept(broker, { instanceId }, snapshot => decideObserve(snapshot, intent, next))
}
