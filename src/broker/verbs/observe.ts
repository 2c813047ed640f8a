import { decideObserveNow } from '../../domain/decide-observe.ts'
import type { Instance } from '../../domain/instance.ts'
import { newId } from '../../domain/new-id.ts'
import type { Operation } from '../../domain/operation.ts'
import { type Acting, checkSeen, remembered } from '../../domain/operator.ts'
import { BrokerError } from '../../protocol/errors.ts'
import { accept } from '../accept.ts'
import type { BrokerContext } from '../context.ts'
import { observationTimeout } from '../find-work.ts'
import { tell } from './tell.ts'

/** Looks at the instance now. */
export async function observeInstance(broker: BrokerContext, acting: Acting, instanceId: string): Promise<Operation> {
  const instance = await broker.store.instance(instanceId)
  if (instance === undefined) throw new BrokerError('InstanceNotFound', 'There is no instance with this id.')
  const observing = { ...acting, ...observationOf(broker, instance) }
  const begun = await accept(broker, { instanceId }, snapshot => {
    checkSeen(acting, snapshot.instance)
    return remembered(acting, decideObserveNow(snapshot, observing))
  })
  tell(broker, 'observe', acting, { instanceId, operationId: begun.id })
  return begun
}

export function observationOf(broker: BrokerContext, instance: Instance) {
  const { id: instanceId, serviceId } = instance
  const operationId = newId(broker.clock.now())
  const possible = broker.services.of(instance)?.code.observe !== undefined
  return { intent: { operationId, instanceId, serviceId, timeout: observationTimeout }, possible }
}
