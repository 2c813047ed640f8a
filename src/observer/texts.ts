import type { LoggedValue } from './fields.ts'
import { rememberLatest } from './remember.ts'

/** Of each field whose values repeat. */
export const mostRemembered = 100

export function toJson(value: LoggedValue): string {
  if (typeof value === 'string' && plain.test(value)) return `"${value}"`
  return Number.isSafeInteger(value) ? `${value}` : JSON.stringify(value)
}

/** What JSON writes as it is. */
const plain = /^[ !#-[\]-~]*$/

/** In ISO 8601. Many lines of a busy broker have the same time. */
export const toTime = rememberLatest((at: number) => new Date(at).toISOString())
