import { judgePattern, toRegExp } from '../bundle/pattern.ts'

export interface Lists {
  readonly whiteList: readonly string[]
  readonly blackList: readonly string[]
}

export type Filter = (name: string) => boolean

/**
 * Nothing passes that no entry of the white list matches somewhere, nor what one of the black list matches: a black list
 * alone lets nothing pass. Empty entries count as absent. Throws where an entry is not a regular expression: `findProblem`
 * says so before.
 */
export function createFilter({ whiteList, blackList }: Lists): Filter {
  const [white, black] = [compile(whiteList), compile(blackList)]
  return name => white.some(pattern => pattern.test(name)) && !black.some(pattern => pattern.test(name))
}

/** Whether the lists let anything pass at all. */
export function letsNothingPass(whiteList: readonly (string | undefined)[]): boolean {
  return whiteList.every(entry => entry === '')
}

/** What is wrong with an entry of a list, to be read after its name. */
export function findProblem(entry: string): string | undefined {
  return judgePattern(split(entry).pattern).error
}

function compile(entries: readonly string[]): readonly RegExp[] {
  return entries
    .filter(entry => entry !== '')
    .map(entry => {
      const { pattern, ignoreCase } = split(entry)
      const expression = toRegExp(pattern)
      return ignoreCase ? new RegExp(expression.source, `${expression.flags}i`) : expression
    })
}

/** Go has this flag in the pattern; lists of the Automation Broker are written for Go. */
function split(entry: string): { readonly pattern: string; readonly ignoreCase: boolean } {
  const ignoreCase = entry.startsWith('(?i)')
  return { pattern: ignoreCase ? entry.slice(4) : entry, ignoreCase }
}
