import { type Path, type Place, quoted } from './place.ts'

export type Severity = 'error' | 'warning'

/** One thing that is wrong with what was given, and what to do about it. It never shows a secret. */
export interface Mistake {
  /** A warning names what is allowed and hardly meant; an error unless told otherwise. */
  readonly severity?: Severity
  /** Which value it is about; empty for the whole. */
  readonly path: Path
  readonly place?: Place
  /** What it is about, where a path says little: `service "x" > plan "y"`. */
  readonly subject?: string
  readonly problem: string
  readonly remedy?: string
}

/** What a shape finds, with the parts that it takes to say it in other words. Of a key, there are none. */
export interface FieldMistake extends Mistake {
  readonly kind: 'missing' | 'wrong' | 'rule' | 'unknown' | 'twice' | 'tag'
  /** What was found, as far as it may be shown: `"x"`, `5`, `a list`. */
  readonly found: string
  /** What kind of thing was found: `a text`, `a list`. */
  readonly type: string
  /** What is allowed there; of a `rule`, all that is to be said. */
  readonly rule: string
  /** What the field says is to be done. */
  readonly hint?: string
}

export function isWarning({ severity }: Mistake): boolean {
  return severity === 'warning'
}

export function isError(mistake: Mistake): boolean {
  return !isWarning(mistake)
}

/** The mistake in a sentence. */
export function explain({ problem, remedy }: Pick<Mistake, 'problem' | 'remedy'>): string {
  return remedy === undefined ? problem : `${problem}; ${remedy}`
}

export function typeName(value: unknown): string {
  if (value === null) return 'empty'
  if (value === undefined) return 'undefined'
  if (Array.isArray(value)) return 'a list'
  if (value instanceof Promise) return 'a promise'
  if (typeof value === 'object') return 'a map'
  return typeof value === 'string' ? 'a text' : typeof value === 'boolean' ? 'true or false' : `a ${typeof value}`
}

const wordsOfCode: Readonly<Record<string, string>> = { 'a map': 'an object', empty: 'null' }

/** The name of a type, as authors of code call it. Files have maps, and empty values. */
export function inCode(type: string): string {
  return wordsOfCode[type] ?? type
}

/** A value for people, without what could be a secret. */
export function show(value: unknown, { secret = false, mask = hideUser } = {}): string {
  if (typeof value === 'object' || typeof value === 'function' || value === undefined) return typeName(value)
  if (secret) return `${typeName(value)} (not shown)`
  return typeof value === 'string' ? quoted(mask(value)) : String(value)
}

function hideUser(text: string): string {
  return text.replace(/\/\/.*@/s, '//[hidden]@')
}
