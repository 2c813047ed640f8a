import { isJsonObject } from '../protocol/json.ts'
import { requirable } from '../protocol/offering.ts'
import {
  checkFields,
  type Fields,
  flag,
  jsonObject,
  object,
  oneOfEach,
  type Path,
  positiveInteger,
  type Report,
  semver,
  text,
  texts,
  wrongType,
} from './check-fields.ts'
import { checkSchemas } from './check-schemas.ts'
import { createUniqueness } from './check-unique.ts'
import { warnOfStyle } from './warn-of-style.ts'

export interface CatalogProblem {
  /** Below the list of offerings: `[0, 'plans', 1, 'name']`. */
  readonly path: Path
  /** Where to look: `file:line:column` where the catalog came from a file, and which service and plan it is about. */
  readonly location: string
  readonly reason: string
  readonly remedy: string
}

/** Problems keep a catalog from being served; warnings name what some platforms dislike. */
export interface CatalogReport {
  readonly problems: readonly CatalogProblem[]
  readonly warnings: readonly CatalogProblem[]
}

/** A catalog that cannot be served. The message lists every problem, so that one look is enough. */
export class CatalogError extends Error {
  override readonly name = 'CatalogError'
  readonly problems: readonly CatalogProblem[]

  constructor(problems: readonly CatalogProblem[]) {
    const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
    super(`the catalog has ${count}:\n${problems.map(problem => `  ${formatProblem(problem)}`).join('\n')}`)
    this.problems = problems
  }
}

export function formatProblem({ location, reason, remedy }: CatalogProblem): string {
  return `${location === '' ? '' : `${location}: `}${reason}; ${remedy}`
}

/**
 * Checks everything the OSB API and its platforms demand of a catalog, types included: what stands here may come from a
 * file or from untyped code. `where` knows the place of a path in its source.
 */
export async function checkCatalog(
  offerings: readonly unknown[],
  where: (path: Path) => string | undefined = () => undefined,
): Promise<CatalogReport> {
  const problems: CatalogProblem[] = []
  const warnings: CatalogProblem[] = []
  const into =
    (list: CatalogProblem[]): Report =>
    (path, reason, remedy) =>
      list.push({ path, location: locate(offerings, path, where), reason, remedy })
  const report = into(problems)
  const warn = into(warnings)
  const unique = createUniqueness(report, path => label(offerings, path))
  for (const [index, offering] of offerings.entries()) {
    if (!isJsonObject(offering)) {
      wrongType(
        offering,
        'a service',
        [index],
        report,
        'an object',
        'give it id, name, description, bindable and plans',
      )
      continue
    }
    checkFields(offering, offeringFields, [index], report)
    unique.offering(offering, [index])
    await checkPlans(offering.plans, [index, 'plans'], report, warn, unique.plans())
    warnOfStyle(offering, [index], warn)
  }
  return { problems, warnings }
}

/** How a problem is located, for those who find one outside this file. */
export function locate(offerings: readonly unknown[], path: Path, where: (path: Path) => string | undefined): string {
  const place = where(path)
  const name = label(offerings, path)
  if (place === undefined) return name
  return name === '' ? place : `${place} (${name})`
}

const offeringFields: Fields = {
  id: { check: text, required: true },
  name: { check: text, required: true },
  description: { check: text, required: true },
  bindable: { check: flag, required: true },
  tags: { check: texts },
  requires: { check: oneOfEach(requirable) },
  instancesRetrievable: { check: flag },
  bindingsRetrievable: { check: flag },
  allowContextUpdates: { check: flag },
  metadata: { check: jsonObject },
  planUpdateable: { check: flag },
  dashboardClient: {
    check: object({
      id: { check: text, required: true },
      secret: { check: text, required: true },
      redirectUri: { check: text },
    }),
  },
}

const planFields: Fields = {
  id: { check: text, required: true },
  name: { check: text, required: true },
  description: { check: text, required: true },
  metadata: { check: jsonObject },
  free: { check: flag },
  bindable: { check: flag },
  bindingRotatable: { check: flag },
  planUpdateable: { check: flag },
  maximumPollingDuration: { check: positiveInteger },
  maintenanceInfo: { check: object({ version: { check: semver, required: true }, description: { check: text } }) },
}

type PlanUniqueness = ReturnType<ReturnType<typeof createUniqueness>['plans']>

async function checkPlans(
  plans: unknown,
  path: Path,
  report: Report,
  warn: Report,
  unique: PlanUniqueness,
): Promise<void> {
  if (plans === undefined || (Array.isArray(plans) && plans.length === 0)) {
    report(path.slice(0, -1), 'it has no plans', 'give it at least one, with id, name and description')
    return
  }
  if (!Array.isArray(plans)) {
    wrongType(plans, '"plans"', path, report, 'a list', 'write it as a list of plans')
    return
  }
  for (const [index, plan] of plans.entries()) {
    const at = [...path, index]
    if (!isJsonObject(plan)) {
      wrongType(plan, 'a plan', at, report, 'an object', 'give it id, name and description')
      continue
    }
    checkFields(plan, planFields, at, report)
    unique(plan, at)
    if (plan.schemas !== undefined) await checkSchemas(plan.schemas, at, report, warn)
  }
}

/** `service "x" > plan "y"`, as far as the path goes. */
function label(offerings: readonly unknown[], path: Path): string {
  const [offeringIndex, list, planIndex] = path
  if (typeof offeringIndex !== 'number') return ''
  const offering = offerings[offeringIndex]
  const service = `service ${nameOf(offering, offeringIndex)}`
  if (list !== 'plans' || typeof planIndex !== 'number') return service
  const plans: unknown = isJsonObject(offering) ? offering.plans : undefined
  return `${service} > plan ${nameOf(Array.isArray(plans) ? plans[planIndex] : undefined, planIndex)}`
}

function nameOf(value: unknown, index: number): string {
  const { name, id } = isJsonObject(value) ? value : {}
  const known = [name, id].find(candidate => typeof candidate === 'string' && candidate !== '')
  return known === undefined ? `number ${index + 1}` : JSON.stringify(known)
}
