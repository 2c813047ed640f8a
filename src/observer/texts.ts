import type { LoggedValue } from './fields.ts'
import { rememberLatest } from './remember.ts'

/** Of each field whose values repeat. */
export const mostRemembered = 100

export function toJson(value: LoggedValue): string {
  if (typeof value === 'string' && plain.test(value)) return `"${value}"`
  return Number.isSafeInteger(value) ? `${value}` : toAscii(JSON.stringify(value))
}

/** The same JSON in ASCII: readers need not know the encoding, and it takes less time to write. */
export function toAscii(json: string): string {
  return json.replaceAll(/[\u0080-\uffff]/g, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** What JSON writes as it is. */
const plain = /^[ !#-[\]-~]*$/

/** In ISO 8601. Many lines of a busy broker have the same time. */
export const toTime = rememberLatest((at: number) => new Date(at).toISOString())
