import type { Path } from '../shape/place.ts'

export interface CatalogProblem {
  /** Below the list of offerings: `[0, 'plans', 1, 'name']`. */
  readonly path: Path
  /** Where to look: `file:line:column` where the catalog came from a file, and which service and plan it is about. */
  readonly location: string
  readonly reason: string
  readonly remedy: string
}

export type Report = (path: Path, reason: string, remedy: string) => void

/** A catalog that cannot be served. The message lists every problem, so that one look is enough. */
export class CatalogError extends Error {
  override readonly name = 'CatalogError'
  readonly problems: readonly CatalogProblem[]

  constructor(problems: readonly CatalogProblem[], subject = 'the catalog') {
    const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
    super(`${subject} has ${count}:\n${problems.map(problem => `  ${formatProblem(problem)}`).join('\n')}`)
    this.problems = problems
  }
}

export function formatProblem({ location, reason, remedy }: CatalogProblem): string {
  return `${location === '' ? '' : `${location}: `}${reason}; ${remedy}`
}
