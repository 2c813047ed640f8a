import { offeringShape } from '../protocol/offering-shape.ts'
import { snakeCase } from '../shape/describe.ts'
import { type FieldMistake, isError, isWarning, type Mistake } from '../shape/mistake.ts'
import { fromCode, isObject, type Path, type Place, placeOf, type Source, showPath } from '../shape/place.ts'
import { normalize, type ReadOptions, read } from '../shape/read.ts'
import { list } from '../shape/shape.ts'
import { checkSchemas } from './check-schemas.ts'
import { byPlan, objectsOf, type Report, subjectOf } from './problem.ts'

type Where = (path: Path) => Place | undefined

/** Checks everything that the OSB API and its platforms demand of a catalog. `where` knows the place of a path in its file. */
export async function checkCatalog(offerings: readonly unknown[], where?: Where, sharedPlanIds = false) {
  const { problems, warnings } = await readOfferings(fromCode(offerings), { sharedPlanIds }, where)
  return { problems, warnings }
}

const servicesShape = list(offeringShape)

interface ReadOfferings {
  /** Their keys are as code spells them. Where there are problems, nothing else is certain. */
  readonly offerings: readonly unknown[]
  /** They keep a catalog from being served; warnings name what some platforms dislike. */
  readonly problems: readonly Mistake[]
  readonly warnings: readonly Mistake[]
  readonly where: Where
}

interface ReadOfferingsOptions extends ReadOptions {
  /** Only warns of plans of different services with the same id. */
  readonly sharedPlanIds?: boolean
  /** Names fields as the wire does. */
  readonly wireNames?: boolean
}

/** The offerings of a source, whatever it is, and all that is wrong with them. */
export async function readOfferings(
  source: Source,
  { sharedPlanIds = false, wireNames = false, ...options }: ReadOfferingsOptions,
  where?: Where,
): Promise<ReadOfferings> {
  const spelled = normalize(servicesShape, source, options)
  const { root } = spelled.source
  const offerings: readonly unknown[] = Array.isArray(root) ? root : []
  const find = where ?? (path => placeOf(spelled.source, path))
  const mistakes: Mistake[] = []
  const report: Report = mistake => {
    const { path, place = find(path) } = mistake
    mistakes.push({ ...mistake, place, subject: subjectOf(offerings, path) })
  }
  for (const { path, place, severity, ...mistake } of [
    ...spelled.mistakes,
    ...read(servicesShape, spelled.source).mistakes,
  ])
    report({ path, place, severity, ...explain(mistake, nameOf(wireNames ? toWirePath(path) : path)) })
  checkUnique(offerings, report, sharedPlanIds)
  for (const [index, offering] of objectsOf(offerings)) {
    for (const [plan, value] of objectsOf(offering.plans)) await checkSchemas(value, [index, 'plans', plan], report)
    warnOfStyle(offering, [index], report)
  }
  const problems = mistakes.filter(isError).sort(byPlan)
  return { offerings, problems, warnings: mistakes.filter(isWarning), where: find }
}

/** Ids are unique in the whole catalog, plan names in their service. Names are compared with their case (CAT-13). */
function checkUnique(offerings: readonly unknown[], report: Report, sharedPlanIds: boolean): void {
  const createClaim = (what: string, remedy: string, isShared = false) => {
    const seen = new Map<string, Path>()
    return (value: unknown, path: Path) => {
      if (typeof value !== 'string') return
      const first = seen.get(value)
      if (first === undefined) return void seen.set(value, path)
      const severity = isShared && first[0] !== path[0] ? 'warning' : 'error'
      const problem = `the ${what} "${value}" is already used by ${subjectOf(offerings, first)}`
      report({ severity, path, problem, remedy })
    }
  }
  const claimId = createClaim('service id', 'give each service an id of its own')
  const claimName = createClaim('service name', 'give each service a name of its own')
  const claimClient = createClaim('dashboard client id', 'give each service its own client')
  const claimPlanId = createClaim('plan id', 'give each plan an id of its own, over all services', sharedPlanIds)
  for (const [index, { id, name, dashboardClient: client, plans }] of objectsOf(offerings)) {
    claimId(id, [index, 'id'])
    claimName(name, [index, 'name'])
    if (isObject(client)) claimClient(client.id, [index, 'dashboardClient', 'id'])
    const claimPlanName = createClaim('plan name', 'give each plan of a service a name of its own')
    for (const [number, plan] of objectsOf(plans)) {
      claimPlanId(plan.id, [index, 'plans', number, 'id'])
      claimPlanName(plan.name, [index, 'plans', number, 'name'])
    }
  }
}

/** Some platforms cut or refuse longer texts (CAT-06). */
const longText = 255

/** An image may be a data URL, and schemas have a limit of their own. */
const deepest = 10
const mayBeLong: ReadonlySet<string | number | undefined> = new Set(['imageUrl', 'schemas'])

/** Warns of what is legal and yet makes trouble on some platforms. */
function warnOfStyle(offering: Readonly<Record<string, unknown>>, path: Path, report: Report): void {
  const warn = (at: Path, problem: string, remedy: string) => report({ severity: 'warning', path: at, problem, remedy })

  /** A CLI-friendly name has letters, digits, `.` and `-` only, and is more than punctuation (CAT-11 to CAT-14). */
  const warnOfName = (name: unknown, at: Path) => {
    if (typeof name !== 'string' || name === '') return
    if (!/^[A-Za-z0-9.-]+$/.test(name) || !/[A-Za-z0-9]/.test(name))
      warn(at, `the name "${name}" is hard to type on a command line`, 'use letters, digits, "." and "-"')
  }

  const warnOfLength = (value: unknown, at: Path) => {
    const field = at.at(-1)
    if (mayBeLong.has(field) || at.length > deepest) return
    if (typeof value === 'string' && value.length > longText)
      warn(at, `"${field}" has ${value.length} characters`, `some platforms cut or refuse more than ${longText}`)
    else if (Array.isArray(value)) for (const [index, item] of value.entries()) warnOfLength(item, [...at, index])
    else if (isObject(value)) for (const [key, item] of Object.entries(value)) warnOfLength(item, [...at, key])
  }

  const { name, plans, dashboardClient: client } = offering
  warnOfName(name, [...path, 'name'])
  for (const [index, plan] of objectsOf(plans)) warnOfName(plan.name, [...path, 'plans', index, 'name'])
  if (isObject(client) && client.redirectUri === undefined) {
    const remedy = 'Cloud Foundry refuses the catalog without one'
    warn([...path, 'dashboardClient'], '"dashboardClient" has no redirectUri', remedy)
  }
  warnOfLength(offering, path)
}

function explain(mistake: Omit<FieldMistake, 'path'>, name: string): Pick<Mistake, 'problem' | 'remedy'> {
  const { kind, found, type, rule, hint: remedy = 'correct it' } = mistake
  if (kind === 'missing') return { problem: `${name} is missing`, remedy: `add ${name}` }
  if (kind === 'wrong' && type === rule) return { problem: `${name} is empty`, remedy: 'give it a text' }
  if (kind === 'wrong') return { problem: `${name} must be ${rule}, but is ${found}`, remedy }
  if (kind === 'rule') return { problem: rule, remedy }
  return { problem: `${name} ${mistake.problem}`, remedy: mistake.remedy }
}

/** A field from its service or plan on: `"maintenanceInfo.version"`. */
function toWirePath(path: Path): Path {
  return path.map(key => (typeof key === 'string' ? snakeCase(key) : key))
}

function nameOf(path: Path): string {
  const inPlan = path[1] === 'plans' && path.length > 2
  const rest = path.slice(inPlan ? 3 : 1)
  return rest.length === 0 ? (inPlan ? 'a plan' : 'a service') : `"${showPath(rest)}"`
}
