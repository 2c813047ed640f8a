import { isObject, type Path } from '../shape/place.ts'
import type { Report } from './problem.ts'

/**
 * Ids are unique in the whole catalog, offering names among the offerings, plan names within their offering. Names are
 * compared case-sensitively (CAT-13). `label` names what was there first.
 */
export function checkUnique(offerings: readonly unknown[], report: Report, label: (path: Path) => string): void {
  const claim = (seen: Map<string, Path>, value: unknown, path: Path, what: string, remedy: string) => {
    if (typeof value !== 'string') return
    const first = seen.get(value)
    if (first === undefined) seen.set(value, path)
    else report(path, `the ${what} "${value}" is already used by ${label(first)}`, remedy)
  }
  const ids = new Map<string, Path>()
  const names = new Map<string, Path>()
  const clientIds = new Map<string, Path>()
  const planIds = new Map<string, Path>()
  for (const [index, offering] of offerings.entries()) {
    if (!isObject(offering)) continue
    claim(ids, offering.id, [index, 'id'], 'service id', 'give each service an id of its own')
    claim(names, offering.name, [index, 'name'], 'service name', 'give each service a name of its own')
    const { dashboardClient: client, plans } = offering
    if (isObject(client)) {
      const path = [index, 'dashboardClient', 'id']
      claim(clientIds, client.id, path, 'dashboard client id', 'give each service its own client')
    }
    const planNames = new Map<string, Path>()
    for (const [number, plan] of Array.isArray(plans) ? plans.entries() : []) {
      if (!isObject(plan)) continue
      const path = [index, 'plans', number]
      claim(planIds, plan.id, [...path, 'id'], 'plan id', 'give each plan an id of its own, over all services')
      claim(planNames, plan.name, [...path, 'name'], 'plan name', 'give each plan of a service a name of its own')
    }
  }
}
