import { offeringShape } from '../protocol/offering-shape.ts'
import type { Mistake } from '../shape/mistake.ts'
import { fromCode, isObject, type Path, type Place, placeOf, type Source, showPath } from '../shape/place.ts'
import { normalize, type ReadOptions, read } from '../shape/read.ts'
import { list } from '../shape/shape.ts'
import { checkSchemas } from './check-schemas.ts'
import { checkUnique } from './check-unique.ts'
import type { CatalogProblem, Report } from './problem.ts'
import { warnOfStyle } from './warn-of-style.ts'

/** Problems keep a catalog from being served; warnings name what some platforms dislike. */
export interface CatalogReport {
  readonly problems: readonly CatalogProblem[]
  readonly warnings: readonly CatalogProblem[]
}

type Where = (path: Path) => string | undefined

/** Checks everything that the OSB API and its platforms demand of a catalog. `where` knows the place of a path in its file. */
export async function checkCatalog(offerings: readonly unknown[], where?: Where): Promise<CatalogReport> {
  const { problems, warnings } = await readOfferings(fromCode(offerings), {}, where)
  return { problems, warnings }
}

const servicesShape = list(offeringShape)

export interface ReadOfferings extends CatalogReport {
  /** Their keys are as code spells them. Where there are problems, nothing else is certain. */
  readonly offerings: readonly unknown[]
  where(path: Path): string | undefined
}

/** The offerings of a source, whatever it is, and all that is wrong with them. */
export async function readOfferings(source: Source, options: ReadOptions, where?: Where): Promise<ReadOfferings> {
  const spelled = normalize(servicesShape, source, options)
  const { root } = spelled.source
  const offerings: readonly unknown[] = Array.isArray(root) ? root : []
  const find = where ?? (path => showPlace(placeOf(spelled.source, path)))
  const problems: CatalogProblem[] = []
  const warnings: CatalogProblem[] = []
  const into =
    (found: CatalogProblem[]): Report =>
    (path, reason, remedy) =>
      found.push({ path, location: locate(offerings, path, find(path)), reason, remedy })
  const report = into(problems)
  for (const mistake of [...spelled.mistakes, ...read(servicesShape, spelled.source).mistakes]) {
    const { path, place } = mistake
    problems.push({ path, location: locate(offerings, path, showPlace(place) ?? find(path)), ...explain(mistake) })
  }
  checkUnique(offerings, report, path => label(offerings, path))
  for (const [index, offering] of offerings.entries()) {
    if (!isObject(offering)) continue
    if (Array.isArray(offering.plans))
      for (const [plan, value] of offering.plans.entries())
        await checkSchemas(value, [index, 'plans', plan], report, into(warnings))
    warnOfStyle(offering, [index], into(warnings))
  }
  return { offerings, problems: problems.sort(byPlan), warnings, where: find }
}

/** How a problem is located, for those who find one elsewhere. */
export function locate(offerings: readonly unknown[], path: Path, place: string | undefined): string {
  const name = label(offerings, path)
  if (place === undefined) return name
  return name === '' ? place : `${place} (${name})`
}

function explain({
  kind,
  path,
  found,
  type,
  rule,
  remedy = 'correct it',
}: Mistake): Pick<CatalogProblem, 'reason' | 'remedy'> {
  const name = nameOf(path)
  if (kind === 'missing') return { reason: `${name} is missing`, remedy: `add ${name}` }
  if (kind === 'wrong' && type === rule) return { reason: `${name} is empty`, remedy: 'give it a text' }
  if (kind === 'wrong') return { reason: `${name} must be ${rule}, but is ${found}`, remedy }
  return { reason: kind === 'rule' ? rule : `${name} ${rule}`, remedy }
}

/** A field from its service or plan on: `"maintenanceInfo.version"`. */
function nameOf(path: Path): string {
  const inPlan = path[1] === 'plans' && path.length > 2
  const rest = path.slice(inPlan ? 3 : 1)
  return rest.length === 0 ? (inPlan ? 'a plan' : 'a service') : `"${showPath(rest)}"`
}

function byPlan({ path: left }: CatalogProblem, { path: right }: CatalogProblem): number {
  return Number(left[0]) - Number(right[0]) || planIndex(left) - planIndex(right)
}

function planIndex([, list, index]: Path): number {
  return list === 'plans' && typeof index === 'number' ? index : -1
}

export function showPlace(place: Place | undefined): string | undefined {
  return place && `${place.source}:${place.line}:${place.column}`
}

/** `service "x" > plan "y"`, as far as the path goes. */
function label(offerings: readonly unknown[], path: Path): string {
  const index = Number(path[0])
  const offering = offerings[index]
  if (path.length === 0) return ''
  const service = `service ${quotedName(offering, index)}`
  const plan = planIndex(path)
  if (plan < 0) return service
  const plans: unknown = isObject(offering) ? offering.plans : undefined
  return `${service} > plan ${quotedName(Array.isArray(plans) ? plans[plan] : undefined, plan)}`
}

function quotedName(value: unknown, index: number): string {
  const { name, id } = isObject(value) ? value : {}
  const known = [name, id].find(candidate => typeof candidate === 'string' && candidate !== '')
  return known === undefined ? `number ${index + 1}` : JSON.stringify(known)
}
