import { judgePattern } from '../catalog/judge-pattern.ts'
import { compilePattern, type Pattern } from '../catalog/pattern.ts'

export interface Lists {
  readonly whiteList: readonly string[]
  readonly blackList: readonly string[]
}

export type Filter = (name: string) => boolean

/**
 * A name passes where an entry of the white list matches any part of it, and no entry of the black list does. So a black
 * list alone lets nothing pass. Empty entries count as absent. Throws where an entry is not a regular expression:
 * `findProblem` tells that before.
 */
export function createFilter({ whiteList, blackList }: Lists): Filter {
  const [white, black] = [compile(whiteList), compile(blackList)]
  return name => white.some(pattern => pattern.test(name)) && !black.some(pattern => pattern.test(name))
}

/** Whether nothing can pass, whatever the black list says. */
export function letsNothingPass(whiteList: readonly (string | undefined)[]): boolean {
  return whiteList.every(entry => entry === '')
}

/** What is wrong with an entry of a list, to be read after its name. */
export function findProblem(entry: string): string | undefined {
  return judgePattern(entry).error
}

/** Lists of the Automation Broker are written for Go: so are these. */
function compile(entries: readonly string[]): readonly Pattern[] {
  return entries.filter(entry => entry !== '').map(compilePattern)
}
