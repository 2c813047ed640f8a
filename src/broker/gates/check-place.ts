import type { Gate } from '../../domain/gate.ts'
import { BrokerError } from '../../protocol/errors.ts'
import type { BrokerContext } from '../context.ts'

type Place = Pick<Gate, 'serviceId' | 'planId'>

/**
 * Refuses a gate of a service or a plan that nobody can ask for: it would protect nothing, and look as if it did. What is not
 * offered any more counts while an instance has it.
 */
export async function checkGatePlace(broker: BrokerContext, { serviceId, planId }: Place): Promise<void> {
  const { registered, store } = broker
  const place = { serviceId, planId }
  if (serviceId === undefined || isOffered(broker, place)) return
  await registered?.refresh()
  if (isOffered(broker, place)) return
  // What a registry that has not answered yet offers is not known, and may be asked for.
  if (registered !== undefined && registered.unanswered.length > 0) return
  const { items, next } = await store.listInstances({ ...place, limit: 1 })
  if (items.length > 0 || next !== undefined) return
  if (isOffered(broker, { serviceId }))
    throw new BrokerError('UnknownPlan', 'plan_id is not a plan of this service, and no instance has it.')
  throw new BrokerError('UnknownService', 'service_id is not in the catalog of this broker, and no instance has it.')
}

function isOffered({ services }: BrokerContext, { serviceId, planId }: Place): boolean {
  const offering = services.offerings.find(({ id }) => id === serviceId)
  return offering !== undefined && (planId === undefined || offering.plans.some(({ id }) => id === planId))
}
