import { explain, type Mistake } from '../shape/mistake.ts'
import { isObject, type Path } from '../shape/place.ts'

/** Its path is below the list of offerings: `[0, 'plans', 1, 'name']`. */
export type Report = (mistake: Mistake) => void

const mostShown = 100

/** A catalog that cannot be served. The message lists every problem, so that one look is enough, up to a hundred. */
export class CatalogError extends Error {
  override readonly name = 'CatalogError'
  readonly problems: readonly Mistake[]

  constructor(problems: readonly Mistake[], subject = 'the catalog') {
    const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
    const lines = problems.slice(0, mostShown).map(problem => `  ${formatProblem(problem)}`)
    if (problems.length > mostShown) lines.push(`  and ${problems.length - mostShown} more`)
    super(`${subject} has ${count}:\n${lines.join('\n')}`)
    this.problems = problems
  }
}

/** `file:line:column` where the catalog came from a file, and which service and plan it is about. */
export function formatProblem(mistake: Mistake): string {
  const { place, subject = '' } = mistake
  const where = place && [place.source, place.line, place.column].filter(part => part !== undefined).join(':')
  const head = where !== undefined && subject !== '' ? `${where} (${subject})` : (where ?? subject)
  return head === '' ? explain(mistake) : `${head}: ${explain(mistake)}`
}

/** The objects of a list, with their indexes. Whatever else stands there is somebody else's to report. */
export function objectsOf(list: unknown): (readonly [number, Record<string, unknown>])[] {
  if (!Array.isArray(list)) return []
  return [...list.entries()].filter((entry): entry is [number, Record<string, unknown>] => isObject(entry[1]))
}

/** In the order of the catalog. */
export function byPlan({ path: left }: Mistake, { path: right }: Mistake): number {
  return Number(left[0]) - Number(right[0]) || planIndex(left) - planIndex(right)
}

function planIndex([, list, index]: Path): number {
  return list === 'plans' && typeof index === 'number' ? index : -1
}

/** `service "x" > plan "y"`, as far as the path goes. */
export function subjectOf(offerings: readonly unknown[], path: Path): string {
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
