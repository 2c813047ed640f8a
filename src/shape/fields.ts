import type * as v from 'valibot'
import { revealed, Sensitive } from '../sensitive/sensitive.ts'
import { isJson } from './check-json.ts'
import { type Duration, parseDuration } from './duration.ts'
import type { Json, JsonObject } from './json.ts'
import { isObject, type Path, placeOf, type Source, valueAt } from './place.ts'
import { type About, field, type Kind } from './shape.ts'

type Field<Given, Value = Given> = v.GenericSchema<Given, Value>

/** A text alone is the `doc`. */
type AboutField = About | string

function told<Info extends About>(about: Info | string): Info | { readonly doc: string } {
  return typeof about === 'string' ? { doc: about } : about
}

export interface TextInfo extends About {
  /** What is allowed, and how it is told. */
  readonly rule?: string
  readonly allows?: RegExp | ((text: string) => boolean)
  readonly kind?: Kind
}

export function text(info: TextInfo | string = {}): Field<string> {
  const { rule = 'a text', allows = /\S/, kind = 'text', ...about }: TextInfo = told(info)
  const isAllowed = typeof allows === 'function' ? allows : (value: string) => allows.test(value)
  return field({ kind, rule, ...about }, value => (typeof value === 'string' && isAllowed(value) ? value : undefined))
}

/** A text that nobody may see. Code may give it hidden already. */
export function secretText(info: TextInfo = {}): Field<string | Sensitive<string>, Sensitive<string>> {
  const { rule = 'a text', allows = /\S/, kind = 'text', ...about } = info
  const isAllowed = typeof allows === 'function' ? allows : (value: string) => allows.test(value)
  return field({ kind, rule, secret: true, ...about }, value => {
    const plain = revealed(value)
    return typeof plain === 'string' && isAllowed(plain) ? new Sensitive(plain) : undefined
  })
}

/** A file that has to be there. */
export const file = (about: AboutField = {}) => text({ kind: 'file', rule: 'the path of a file', ...told(about) })

/** A path of something that is made when it is needed, or appears later. */
export const folder = (about: AboutField = {}) => text({ kind: 'folder', rule: 'the path of a file', ...told(about) })

/** Only its type is checked here: reading it needs a library. `-` means off. */
export const cron = (about: AboutField = {}) =>
  text({ kind: 'cron', rule: 'a cron pattern in quotes, such as "30 3 * * *", or "-" for off', ...told(about) })

export const semver = (about: AboutField = {}) =>
  text({
    rule: 'a semantic version',
    remedy: 'write three numbers in quotes, such as "1.2.0"',
    allows: isSemanticVersion,
    ...told(about),
  })

export function flag(about: AboutField = {}): Field<boolean> {
  return field({ kind: 'flag', rule: 'true or false', remedy: 'write it without quotes', ...told(about) }, value =>
    typeof value === 'boolean' ? value : undefined,
  )
}

export function oneOf<const Choice extends string | number>(
  choices: readonly Choice[],
  about: AboutField = {},
): Field<Choice> {
  return field({ kind: 'choice', rule: choices.join(' or '), ...told(about) }, value =>
    choices.find(choice => choice === value),
  )
}

export function wholeNumber(least: number, most: number, about: AboutField = {}): Field<number> {
  return field({ kind: 'number', rule: `a whole number from ${least} to ${most}`, ...told(about) }, value =>
    Number.isInteger(value) ? within(value, least, most) : undefined,
  )
}

export function decimal(least: number, most: number, about: AboutField = {}): Field<number> {
  return field({ kind: 'number', rule: `a number from ${least} to ${most}`, ...told(about) }, value =>
    within(value, least, most),
  )
}

/** Becomes milliseconds. */
export function duration(least: Duration, most: Duration, about: AboutField = {}): Field<Duration, number> {
  const rule = `a duration from ${least} to ${most}, such as 500ms, 90s, 5m, 2h or 10d`
  return field({ kind: 'duration', rule, ...told(about) }, value =>
    within(toMilliseconds(value), parseDuration(least), parseDuration(most)),
  )
}

export type Size = number | `${number}${'B' | 'KB' | 'MB' | 'GB'}`

/** Becomes bytes. */
export function size(least: Size, most: Size, about: AboutField = {}): Field<Size, number> {
  const rule = `a size from ${least} to ${most}, such as 16KB, 1MB or 2GB`
  return field({ kind: 'size', rule, ...told(about) }, value => within(toBytes(value), toBytes(least), toBytes(most)))
}

function within(value: unknown, least = 0, most = 0): number | undefined {
  return typeof value === 'number' && value >= least && value <= most ? value : undefined
}

/** An object that is kept as it is. */
export function json(about: AboutField = {}): Field<JsonObject> {
  const rule = 'a map that JSON can hold'
  const remedy = 'use only text, finite numbers, true, false, null, lists and maps'
  return field({ kind: 'other', rule, remedy, ...told(about) }, value =>
    isObject(value) && isJson(value) ? (value as JsonObject) : undefined,
  )
}

/** Anything at all: somebody else checks it. */
export const anything = <Given>(rule: string, about: AboutField = {}): Field<Given> =>
  field({ kind: 'other', rule, ...told(about) }, value => value as Given)

/** A value together with how it was written, for those who know only later what it has to be. */
export interface WrittenValue {
  readonly value: Json
  /** An unquoted scalar: `1.10`, which as a number is 1.1. */
  readonly text?: string
  /** Of a list. */
  readonly items?: readonly WrittenValue[]
}

export const written = (about: About = {}): Field<Json, WrittenValue> =>
  field({ kind: 'written', rule: 'a value', ...about }, value => value as WrittenValue)

/** A number or a flag as it was written. Undefined where it is not a scalar. */
export function asText({ value, text }: { readonly value: unknown; readonly text?: string }): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? (text ?? String(value)) : undefined
}

export function textAt(source: Source, path: Path): string | undefined {
  return asText({ value: valueAt(source.root, path), text: placeOf(source, path)?.text })
}

/** With the words of YAML 1.1, in which many files were written. Undefined where it is not a flag. */
export function asFlag(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value
  return typeof value === 'string' ? flags.get(value.toLowerCase()) : undefined
}

const flags = new Map(Object.entries({ true: true, yes: true, on: true, false: false, no: false, off: false }))

/** Undefined where it is not a duration. */
export function toMilliseconds(value: unknown): number | undefined {
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

/** What code gives as a whole. */
export function judged(rule: string, allows: (value: unknown) => boolean): Field<unknown> {
  return field({ kind: 'other', rule }, value => (allows(value) ? value : undefined))
}

export const code = judged('a function', value => typeof value === 'function')

export function hasMethods(value: unknown, ...names: readonly string[]): boolean {
  return isObject(value) && names.every(name => typeof value[name] === 'function')
}
