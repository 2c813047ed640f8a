import { tooDeep } from '../catalog/yaml-depth.ts'
import { deepestJson } from '../shape/json.ts'

export type Path = readonly (string | number)[]

/** Something that keeps a source from being read. */
export interface SourceFault {
  readonly line?: number
  readonly path?: Path
  readonly problem: string
}

/** Thrown where a source cannot be read any further. */
export class SourceError extends Error {
  override readonly name = 'SourceError'
  readonly fault: SourceFault

  constructor(fault: SourceFault) {
    super(fault.problem)
    this.fault = fault
  }
}

/** More than any honest spec, and little enough that nothing behind has to fear what it gets. */
export const maxBytes = 1024 * 1024
const maxValues = 100_000

export type Spend = (depth: number, at: Omit<SourceFault, 'problem'>) => void

/** Counts values as they are unfolded, so that a short text full of aliases cannot become a long walk. */
export function createBudget(): Spend {
  let count = 0
  return (depth, at) => {
    if (++count > maxValues)
      throw new SourceError({ ...at, problem: `it unfolds to more than ${maxValues} values; use fewer aliases` })
    if (depth > deepestJson) throw new SourceError({ ...at, problem: deepProblem })
  }
}

export const deepProblem = `${tooDeep}; make it flatter`
export const protoProblem = 'a key must not be called __proto__; give it another name'
