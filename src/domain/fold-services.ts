import type { Binding } from './binding.ts'
import type { Instance } from './instance.ts'

/** What there is of services, in numbers that may be told apart by them. */
export interface ServiceCounts {
  readonly instances: readonly (Pick<Instance, 'serviceId' | 'planId' | 'phase' | 'usable'> & Count)[]
  readonly bindings: readonly (Pick<Binding, 'serviceId' | 'phase'> & Count)[]
  readonly revisions: readonly ({
    readonly serviceId: string
    readonly position: 'current' | 'behind' | 'retired'
  } & Count)[]
}

interface Count {
  readonly rows: number
}

/** Numbers are told apart for so many services, those with the most instances. */
export const mostServices = 200
/** Plans of all services together. */
export const mostPlans = 1_000
/** Stands for the services, or the plans, that are not told apart. */
export const otherId = 'other'

/** Adds up the services, and the plans, beyond those that are told apart: the same ones for whoever has the same numbers. */
export function foldServices({ instances, bindings, revisions }: ServiceCounts): ServiceCounts {
  const services = largest(instances, ({ serviceId }) => serviceId, mostServices)
  const plans = largest(instances, toPlan, mostPlans)
  const shown = (serviceId: string) => (services.has(serviceId) ? serviceId : otherId)
  return {
    instances: addUp(
      instances.map(count => {
        const isShown = services.has(count.serviceId) && plans.has(toPlan(count))
        return { ...count, serviceId: shown(count.serviceId), planId: isShown ? count.planId : otherId }
      }),
    ),
    bindings: addUp(bindings.map(count => ({ ...count, serviceId: shown(count.serviceId) }))),
    revisions: addUp(revisions.map(count => ({ ...count, serviceId: shown(count.serviceId) }))),
  }
}

/** Adds up what is alike but for its number of rows. */
function addUp<Row extends Count>(counts: Iterable<Row>): readonly Row[] {
  const sums = new Map<string, Row>()
  for (const count of counts) {
    const key = JSON.stringify(Object.entries({ ...count, rows: 0 }).sort())
    sums.set(key, { ...count, rows: count.rows + (sums.get(key)?.rows ?? 0) })
  }
  return [...sums.values()]
}

function toPlan({ serviceId, planId }: Pick<Instance, 'serviceId' | 'planId'>): string {
  return JSON.stringify([serviceId, planId])
}

/** The keys with the most rows; of those with as many, the ones that come first by name. */
function largest<Row extends Count>(
  counts: readonly Row[],
  keyOf: (count: Row) => string,
  most: number,
): ReadonlySet<string> {
  const sums = addUp(counts.map(count => ({ key: keyOf(count), rows: count.rows })))
  const sorted = [...sums].sort((one, other) => other.rows - one.rows || (one.key < other.key ? -1 : 1))
  return new Set(sorted.slice(0, most).map(({ key }) => key))
}
