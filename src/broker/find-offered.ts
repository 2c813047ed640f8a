import { provisionability } from '../domain/provisionability.ts'
import { BrokerError } from '../protocol/errors.ts'
import type { BrokerContext } from './context.ts'
import { type FoundPlan, knownService, planOf } from './find-plan.ts'

/** `later`: accept it, and look again when it is run. `refusal` says that it will be refused then. */
export type Offered =
  | ({ readonly kind: 'now' } & FoundPlan)
  | { readonly kind: 'later'; readonly refusal?: BrokerError }

/** What a provision of this plan gets. Refuses what is not, or no longer, offered. */
export async function findOffered(broker: BrokerContext, serviceId: string, planId: string): Promise<Offered> {
  const { services, registered } = broker
  const own = services.find(serviceId)
  if (registered === undefined || own !== undefined) return { kind: 'now', ...planOf(knownService(own), planId) }
  const offered = look(broker, serviceId, planId)
  if (offered.kind === 'now') return offered
  // Another replica may know more than this one has heard of.
  await registered.refresh()
  const again = look(broker, serviceId, planId)
  if (again.kind === 'refused') throw again.refusal
  return again
}

type Looked = Offered | { readonly kind: 'refused'; readonly refusal: BrokerError }

function look({ registered, settings }: BrokerContext, serviceId: string, planId: string): Looked {
  const { retiredPlans } = settings.reconcile
  const synced = registered === undefined || registered.unanswered.length === 0
  const service = registered?.service(serviceId)
  const can = provisionability(service, { retiredPlans, synced })
  if (can.kind === 'wait') return { kind: 'later' }
  if (can.kind !== 'run') {
    const refusal = new BrokerError(service === undefined ? 'UnknownService' : 'RetiredPlan', can.reason)
    return { kind: can.kind === 'reject' ? 'refused' : 'later', refusal }
  }
  const offered = registered?.at(can.revisionId)
  const found = offered?.plans.get(planId)
  if (offered !== undefined && found !== undefined) return { kind: 'now', service: offered, ...found }

  const older = registered?.olderWith(serviceId, planId)
  const kept = older?.plans.get(planId)
  if (older === undefined || kept === undefined) {
    if (!synced) return { kind: 'later' }
    return { kind: 'refused', refusal: new BrokerError('UnknownPlan', 'plan_id is not a plan of this service.') }
  }
  if (retiredPlans === 'accept') return { kind: 'now', service: older, ...kept }
  const refusal = new BrokerError(
    'RetiredPlan',
    'This plan is no longer offered: read the catalog again. Existing instances are not affected.',
  )
  return { kind: retiredPlans === 'reject' ? 'refused' : 'later', refusal }
}
