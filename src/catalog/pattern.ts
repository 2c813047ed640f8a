import { createRequire } from 'node:module'
import type { RE2JS } from 're2js'

/**
 * A regular expression of a registry, a catalog or a schema. It is matched in linear time: the usual engine needs years for
 * `^(a+)+$` and thirty characters, and nothing else runs meanwhile.
 */
export interface Pattern {
  /** Whether any part of the text matches. Throws a PatternError where that would take too long. */
  test(text: string): boolean
  /** The pattern as it was written. */
  toString(): string
}

/** Why a pattern cannot be used; to be read after its name: `has a look-around, …`. */
export class PatternError extends Error {
  override readonly name = 'PatternError'
}

/** Throws a PatternError where the pattern cannot be compiled. */
export function compilePattern(pattern: string): Pattern {
  const known = allowance?.known.get(pattern)
  if (known !== undefined) return known
  if (pattern.length > longest) throw new PatternError(`has more than ${longest} characters; shorten it`)
  const size = sizeOf(pattern)
  if (size > mostParts)
    throw new PatternError(`repeats its parts ${size} times, and ${mostParts} is the most; lower {n}`)
  spend((size + 10) * stepsPerPart, 'is one too many: all of them together take too long to compile; take some out')
  const compiled = compileRe2(pattern)
  const places = compiled.programSize()
  const made: Pattern = {
    test(text) {
      spend(text.length * places, 'takes too long to match with so much text; shorten the text')
      return compiled.test(text)
    },
    toString: () => pattern,
  }
  allowance?.known.set(pattern, made)
  return made
}

export function canCompile(pattern: string): boolean {
  try {
    return compilePattern(pattern) !== undefined
  } catch {
    return false
  }
}

/**
 * Runs what compiles and matches patterns that strangers wrote: however many there are, all of them together take less than a
 * second. Outside, that holds for each by itself.
 */
export function withinLimits<Result>(work: () => Result): Result {
  const outer = allowance
  allowance = { steps: mostSteps, known: new Map() }
  try {
    return work()
  } finally {
    allowance = outer
  }
}

let allowance: { steps: number; readonly known: Map<string, Pattern> } | undefined

/** Counts work before it is done; `problem` is what the PatternError says where it would be too much. */
export function spend(steps: number, problem: string): void {
  const left = (allowance?.steps ?? mostSteps) - steps
  if (left < 0) throw new PatternError(problem)
  if (allowance !== undefined) allowance.steps = left
}

/** A step is a character at one place of the compiled pattern. There are more than 100 in a microsecond. */
const mostSteps = 50_000_000
/** What it takes to compile one character or class. */
const stepsPerPart = 1000

/** Far more than people write. */
const longest = 4000
const mostParts = 5000

/** How many characters and classes are left when repetitions are written out: `(ab){3}` has six. */
function sizeOf(pattern: string): number {
  const open: number[] = []
  let [size, last] = [0, 0]
  for (const [token, least, most = least] of pattern.matchAll(tokens)) {
    if (token === '(') {
      open.push(size)
      size = 0
    } else if (token === ')') {
      last = size
      size += open.pop() ?? 0
    } else if (least !== undefined) {
      size += last * (Math.max(Number(least), Number(most), 1) - 1)
    } else {
      last = 1
      size += 1
    }
  }
  return size
}

const tokens = /\{(\d+)(?:,(\d*))?\}|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|./gs

function compileRe2(pattern: string): RE2JS {
  try {
    return loadEngine().RE2JS.compile(toRe2(pattern))
  } catch (cause) {
    const unknown = unknownToRe2.find(([look]) => look.test(pattern.replaceAll(plain, '')))
    const problem = unknown
      ? `has ${unknown[1]}, which needs unlimited time to match; ${unknown[2]}`
      : 'is not a regular expression; correct it, or take it out'
    throw new PatternError(problem, { cause })
  }
}

/** What RE2 spells otherwise than JSON Schema: `\u0041` is `\x{0041}`, and `[^]` is `[\s\S]`. */
function toRe2(pattern: string): string {
  return pattern.replaceAll(spellings, (all, units?: string, point?: string) => {
    if (point !== undefined) return `\\x${point}`
    if (units === undefined) return all === '[^]' ? '[\\s\\S]' : all
    // Two of them may be the halves of one character.
    const characters = [...String(JSON.parse(`"${units}"`))]
    return characters.map(character => `\\x{${character.codePointAt(0)?.toString(16)}}`).join('')
  })
}

const spellings = /((?:\\u[\da-f]{4})+)|\\u(\{[\da-f]+\})|\\.|\[\^\]/gis

/** Where nothing is meant by what stands there: escaped characters, and classes. */
const plain = /\\[^1-9k]|\[\^?\]?(?:\\.|[^\]\\])*\]/g

const unknownToRe2 = [
  [/\(\?<?[=!]/, 'a look-around', 'write what is allowed instead, or check the rest in the action'],
  [/\\(?:[1-9]|k<)/, 'a back reference', 'write the group again, or check it in the action'],
  [/\{\d{4,}|\{\d*,\d{4,}/, 'a repetition of more than 1000', 'use "maxLength"'],
] as const

let engine: typeof import('re2js') | undefined

/** With the first pattern: a broker without any does not pay for it. Not by `import`: specs are read without waiting. */
function loadEngine(): typeof import('re2js') {
  engine ??= createRequire(import.meta.url)('re2js') as typeof import('re2js')
  return engine
}
