import type { MissingOffer } from '../events.ts'
import type { InstanceCount } from '../reads.ts'
import type { BrokerContext } from './context.ts'

const mostNamed = 20

/**
 * Tells the operator which services and plans the ledger has instances of and this broker does not have. Only a warning
 * depends on it: where the store does not answer, there is none.
 */
export async function reportMissing({ services, registered, store, observer }: BrokerContext): Promise<void> {
  const counts = await store.instanceCounts().catch(() => [])
  // What is pinned to a revision has its service in the ledger, for whoever reads registries.
  const own = registered === undefined ? counts : counts.filter(({ pinned }) => !pinned)
  const missing = findMissing(own, serviceId => services.find(serviceId)?.plans)
  if (missing.length > 0)
    observer['catalog.incomplete']?.({
      missing: missing.slice(0, mostNamed),
      more: Math.max(0, missing.length - mostNamed),
    })
}

/** Those with the most instances first. */
function findMissing(
  counts: readonly InstanceCount[],
  plansOf: (serviceId: string) => Pick<ReadonlySet<string>, 'has'> | undefined,
): readonly MissingOffer[] {
  const missing = new Map<string, MissingOffer>()
  for (const { serviceId, planId, pinned, instances } of counts) {
    const plans = pinned ? undefined : plansOf(serviceId)
    if (plans?.has(planId)) continue
    const offer = plans === undefined ? { serviceId } : { serviceId, planId }
    const key = JSON.stringify(offer)
    missing.set(key, { ...offer, instances: (missing.get(key)?.instances ?? 0) + instances })
  }
  return [...missing.values()].sort((a, b) => b.instances - a.instances)
}
