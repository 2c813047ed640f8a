import { type Token, tokenize } from './tokens.ts'

/** One `requirement(ids, title, …)` call of a test file. */
export interface Scenario {
  readonly ids: readonly string[]
  /** As it is written: a template keeps its `${…}`. */
  readonly title: string
  readonly file: string
  readonly line: number
}

/**
 * The requirements that a test file shows, read from its source. Ids have to be literals, in the call itself: then the
 * table can be checked without running anything, and an id in a comment or in another string counts for nothing.
 */
export function scanScenarios(file: string, source: string): readonly Scenario[] {
  const tokens = tokenize(source)
  return tokens.flatMap((token, index) => (isCall(tokens, index) ? [readCall(file, tokens, token, index + 2)] : []))
}

function isCall(tokens: readonly Token[], index: number): boolean {
  const before = tokens[index - 1]?.text
  const named = tokens[index]?.kind === 'word' && tokens[index]?.text === 'requirement'
  return named && tokens[index + 1]?.text === '(' && before !== '.' && before !== 'function'
}

function readCall(file: string, tokens: readonly Token[], { line }: Token, start: number): Scenario {
  const ids: string[] = []
  let at = start
  const list = tokens[at]?.text === '['
  if (list) at += 1
  for (let token = tokens[at]; token?.kind === 'string'; token = tokens[at]) {
    ids.push(token.value ?? '')
    at += tokens[at + 1]?.text === ',' && list ? 2 : 1
  }
  if (list && tokens[at]?.text === ']') at += 1
  else if (list) ids.length = 0
  const title = tokens[at]?.text === ',' ? tokens[at + 1]?.value : undefined
  if (ids.length === 0 || title === undefined)
    throw new Error(
      `${file}:${line}: requirement() must have literal ids and a literal title: requirement(['ID'], 'title', …)`,
    )
  return { ids, title, file, line }
}
