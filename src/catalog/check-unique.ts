import { isObject, type Path } from '../shape/place.ts'
import { type Report, subjectOf } from './problem.ts'

interface Claim {
  /** Who has which value so far. */
  readonly seen: Map<string, Path>
  readonly what: string
  readonly remedy: string
}

/** Ids are unique in the whole catalog, plan names in their service. Names are compared with their case (CAT-13). */
export function checkUnique(offerings: readonly unknown[], report: Report): void {
  const claim = ({ seen, what, remedy }: Claim, value: unknown, path: Path) => {
    if (typeof value !== 'string') return
    const first = seen.get(value)
    if (first === undefined) seen.set(value, path)
    else report({ path, problem: `the ${what} "${value}" is already used by ${subjectOf(offerings, first)}`, remedy })
  }
  const ids = createClaim('service id', 'give each service an id of its own')
  const names = createClaim('service name', 'give each service a name of its own')
  const clientIds = createClaim('dashboard client id', 'give each service its own client')
  const planIds = createClaim('plan id', 'give each plan an id of its own, over all services')
  for (const [index, offering] of offerings.entries()) {
    if (!isObject(offering)) continue
    const { id, name, dashboardClient: client, plans } = offering
    claim(ids, id, [index, 'id'])
    claim(names, name, [index, 'name'])
    if (isObject(client)) claim(clientIds, client.id, [index, 'dashboardClient', 'id'])
    const planNames = createClaim('plan name', 'give each plan of a service a name of its own')
    for (const [number, plan] of Array.isArray(plans) ? plans.entries() : []) {
      if (!isObject(plan)) continue
      claim(planIds, plan.id, [index, 'plans', number, 'id'])
      claim(planNames, plan.name, [index, 'plans', number, 'name'])
    }
  }
}

function createClaim(what: string, remedy: string): Claim {
  return { seen: new Map(), what, remedy }
}
