import { isJsonObject } from '../protocol/json.ts'
import type { Path, Report } from './check-fields.ts'

type Named = Readonly<Record<string, unknown>>

/**
 * Remembers what has been seen of one catalog. Ids are unique in the whole catalog, offering names among the offerings,
 * plan names within their offering; names are compared case-sensitively (CAT-13).
 */
export function createUniqueness(report: Report, label: (path: Path) => string) {
  const offeringIds = new Map<string, Path>()
  const offeringNames = new Map<string, Path>()
  const clientIds = new Map<string, Path>()
  const planIds = new Map<string, Path>()

  const claim = (seen: Map<string, Path>, value: unknown, what: string, path: Path, remedy: string) => {
    if (typeof value !== 'string') return
    const first = seen.get(value)
    if (first === undefined) seen.set(value, path)
    else report(path, `the ${what} "${value}" is already used by ${label(first)}`, remedy)
  }

  return {
    offering(offering: Named, path: Path): void {
      claim(offeringIds, offering.id, 'service id', [...path, 'id'], 'give each service an id of its own')
      claim(offeringNames, offering.name, 'service name', [...path, 'name'], 'give each service a name of its own')
      const client = offering.dashboardClient
      if (isJsonObject(client))
        claim(
          clientIds,
          client.id,
          'dashboard client id',
          [...path, 'dashboardClient', 'id'],
          'give each service its own client',
        )
    },
    /** For the plans of the next offering. */
    plans() {
      const planNames = new Map<string, Path>()
      return (plan: Named, path: Path): void => {
        claim(planIds, plan.id, 'plan id', [...path, 'id'], 'give each plan an id of its own, over all services')
        claim(planNames, plan.name, 'plan name', [...path, 'name'], 'give each plan of a service a name of its own')
      }
    },
  }
}
