import { type Path, type Place, quoted } from './place.ts'

/** One thing that is wrong with what was given, and what to do about it. It never shows a secret. */
export interface Mistake {
  readonly severity: 'error' | 'warning'
  readonly kind: 'missing' | 'wrong' | 'unknown' | 'twice' | 'rule'
  readonly path: Path
  readonly place?: Place
  /** What was found, as far as it may be shown: `"x"`, `5`, `a list`. */
  readonly found: string
  /** What kind of thing was found: `a text`, `a list`. */
  readonly type: string
  /** What is allowed there; of a `rule`, all that is to be said. */
  readonly rule: string
  readonly remedy?: string
}

/** The mistake in a sentence. */
export function explain({ kind, found, rule, remedy }: Mistake): string {
  switch (kind) {
    case 'missing':
      return `is missing; allowed: ${rule}`
    case 'wrong':
      return `found ${found}; allowed: ${rule}`
    case 'rule':
      return rule.startsWith('needs') ? rule : `found ${found}; ${rule}`
    default:
      return `${rule}; ${remedy}`
  }
}

export function typeName(value: unknown): string {
  if (value === null) return 'empty'
  if (value === undefined) return 'undefined'
  if (Array.isArray(value)) return 'a list'
  if (value instanceof Promise) return 'a promise'
  if (typeof value === 'object') return 'a map'
  return typeof value === 'string' ? 'a text' : typeof value === 'boolean' ? 'true or false' : `a ${typeof value}`
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
