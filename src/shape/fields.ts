import type * as v from 'valibot'
import { isJson } from './check-json.ts'
import { type Duration, parseDuration } from './duration.ts'
import type { JsonObject } from './json.ts'
import { isObject } from './place.ts'
import { type About, field, type Kind } from './shape.ts'

type Field<Given, Value = Given> = v.GenericSchema<Given, Value>

export interface TextInfo extends About {
  /** What is allowed, and how it is told. */
  readonly rule?: string
  readonly allows?: RegExp | ((text: string) => boolean)
  readonly kind?: Kind
}

export function text({ rule = 'a text', allows = /\S/, kind = 'text', ...about }: TextInfo = {}): Field<string> {
  const isAllowed = typeof allows === 'function' ? allows : (value: string) => allows.test(value)
  return field({ kind, rule, ...about }, value => (typeof value === 'string' && isAllowed(value) ? value : undefined))
}

/** A file that has to be there. */
export const file = (about: About = {}) => text({ kind: 'file', rule: 'the path of a file', ...about })

/** A path of something that is made when it is needed, or appears later. */
export const folder = (about: About = {}) => text({ kind: 'folder', rule: 'the path of a file', ...about })

/** Only its type is checked here: reading it needs a library. `-` means off. */
export const cron = (about: About = {}) =>
  text({ kind: 'cron', rule: 'a cron pattern in quotes, such as "30 3 * * *", or "-" for off', ...about })

export const semver = (about: About = {}) =>
  text({
    rule: 'a semantic version',
    remedy: 'write three numbers in quotes, such as "1.2.0"',
    allows: isSemanticVersion,
    ...about,
  })

export function flag(about: About = {}): Field<boolean> {
  return field({ kind: 'flag', rule: 'true or false', remedy: 'write it without quotes', ...about }, value =>
    typeof value === 'boolean' ? value : undefined,
  )
}

export function oneOf<const Choice extends string | number>(
  choices: readonly Choice[],
  about: About = {},
): Field<Choice> {
  return field({ kind: 'choice', rule: choices.join(' or '), ...about }, value =>
    choices.find(choice => choice === value),
  )
}

export function wholeNumber(least: number, most: number, about: About = {}): Field<number> {
  return field({ kind: 'number', rule: `a whole number from ${least} to ${most}`, ...about }, value =>
    Number.isInteger(value) && Number(value) >= least && Number(value) <= most ? Number(value) : undefined,
  )
}

export function decimal(least: number, most: number, about: About = {}): Field<number> {
  return field({ kind: 'number', rule: `a number from ${least} to ${most}`, ...about }, value =>
    typeof value === 'number' && value >= least && value <= most ? value : undefined,
  )
}

/** Becomes milliseconds. */
export function duration(least: Duration, most: Duration, about: About = {}): Field<Duration, number> {
  const rule = `a duration from ${least} to ${most}, such as 500ms, 90s, 5m, 2h or 10d`
  return field({ kind: 'duration', rule, ...about }, value => {
    const ms = toMilliseconds(value)
    return ms !== undefined && ms >= parseDuration(least) && ms <= parseDuration(most) ? ms : undefined
  })
}

export type Size = number | `${number}${'B' | 'KB' | 'MB' | 'GB'}`

/** Becomes bytes. */
export function size(least: Size, most: Size, about: About = {}): Field<Size, number> {
  const rule = `a size from ${least} to ${most}, such as 16KB, 1MB or 2GB`
  return field({ kind: 'size', rule, ...about }, value => {
    const bytes = toBytes(value)
    return bytes !== undefined && bytes >= (toBytes(least) ?? 0) && bytes <= (toBytes(most) ?? 0) ? bytes : undefined
  })
}

/** An object that is kept as it is. */
export function json(about: About = {}): Field<JsonObject> {
  const rule = 'a map that JSON can hold'
  const remedy = 'use only text, finite numbers, true, false, null, lists and maps'
  return field({ kind: 'other', rule, remedy, ...about }, value =>
    isObject(value) && isJson(value) ? (value as JsonObject) : undefined,
  )
}

/** Anything at all: somebody else checks it. */
export const anything = <Given>(rule: string, about: About = {}): Field<Given> =>
  field({ kind: 'other', rule, ...about }, value => value as Given)

function toMilliseconds(value: unknown): number | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  try {
    return parseDuration(value)
  } catch {
    return undefined
  }
}

function toBytes(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isInteger(value) ? value : undefined
  const [, amount, unit = 'B'] = /^(\d{1,9})\s*(B|KB|MB|GB)?$/i.exec(String(value)) ?? []
  return amount === undefined ? undefined : Number(amount) * (factors[unit.toUpperCase()] ?? 1)
}

const factors: Readonly<Record<string, number>> = { B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 }

/** The grammar of semver.org. */
export function isSemanticVersion(text: string): boolean {
  return version.test(text)
}

const number = '(0|[1-9]\\d*)'
const preRelease = '(0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)'
const build = '[0-9a-zA-Z-]+'
const version = new RegExp(
  `^${number}\\.${number}\\.${number}(-${preRelease}(\\.${preRelease})*)?(\\+${build}(\\.${build})*)?$`,
)
