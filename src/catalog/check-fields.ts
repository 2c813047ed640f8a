import { isJsonObject } from '../protocol/json.ts'

export type Path = readonly (string | number)[]
export type Report = (path: Path, reason: string, remedy: string) => void

/** Judges one field's value; `name` is how messages call it. */
export type Check = (value: unknown, name: string, path: Path, report: Report) => void
export type Fields = Readonly<Record<string, { readonly check: Check; readonly required?: boolean }>>

/** Checks the fields of an object that are named here. Others are not ours to judge. */
export function checkFields(
  value: Readonly<Record<string, unknown>>,
  fields: Fields,
  path: Path,
  report: Report,
): void {
  for (const [field, { check, required = false }] of Object.entries(fields)) {
    const at = [...path, field]
    if (value[field] !== undefined) check(value[field], `"${field}"`, at, report)
    else if (required) report(path, `"${field}" is missing`, `add "${field}"`)
  }
}

export const text: Check = (value, name, path, report) => {
  if (typeof value !== 'string') wrongType(value, name, path, report, 'a string', 'write it as text, in quotes')
  else if (value.trim() === '') report(path, `${name} is empty`, 'give it a text')
}

export const flag: Check = (value, name, path, report) => {
  if (typeof value !== 'boolean')
    wrongType(value, name, path, report, 'true or false', 'write true or false, without quotes')
}

export const texts: Check = (value, name, path, report) => {
  if (!Array.isArray(value)) wrongType(value, name, path, report, 'a list of strings', 'write it as a list')
  else for (const [index, item] of value.entries()) text(item, `${name}[${index}]`, [...path, index], report)
}

/** A list of words out of a fixed set. */
export function oneOfEach(words: readonly string[]): Check {
  return (value, name, path, report) => {
    if (!Array.isArray(value)) {
      wrongType(value, name, path, report, 'a list', `list any of ${words.join(', ')}`)
      return
    }
    for (const [index, item] of value.entries())
      if (!words.includes(item))
        report([...path, index], `${name} has an unknown value${quoted(item)}`, `only ${words.join(', ')} exist`)
  }
}

/** An object of which every part can be written as JSON. */
export const jsonObject: Check = (value, name, path, report) => {
  if (!isJsonObject(value)) wrongType(value, name, path, report, 'an object', 'write it as keys and values')
  else if (!isJson(value, new Set()))
    report(
      path,
      `${name} holds something that JSON cannot hold`,
      'use only text, finite numbers, true, false, null, lists and objects',
    )
}

/** An object with fields of its own. */
export function object(fields: Fields): Check {
  return (value, name, path, report) => {
    if (!isJsonObject(value))
      wrongType(value, name, path, report, 'an object', `give it ${Object.keys(fields).join(', ')}`)
    else checkFields(value, fields, path, report)
  }
}

export const positiveInteger: Check = (value, name, path, report) => {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value <= 0)
    report(path, `${name} must be a positive whole number`, 'write the number of seconds, without quotes or unit')
}

export const semver: Check = (value, name, path, report) => {
  if (typeof value !== 'string' || !semanticVersion.test(value))
    report(path, `${name} must be a semantic version`, 'write three numbers in quotes, such as "1.2.0"')
}

export function wrongType(
  value: unknown,
  name: string,
  path: Path,
  report: Report,
  expected: string,
  remedy: string,
): void {
  report(path, `${name} must be ${expected}, but is ${typeName(value)}`, remedy)
}

const number = '(0|[1-9]\\d*)'
const preRelease = '(0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)'
const build = '[0-9a-zA-Z-]+'
const semanticVersion = new RegExp(
  `^${number}\\.${number}\\.${number}(-${preRelease}(\\.${preRelease})*)?(\\+${build}(\\.${build})*)?$`,
)

/** `seen` holds the objects above the value: one that contains itself has no JSON. */
function isJson(value: unknown, seen: Set<object>): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || seen.has(value)) return false
  if (!Array.isArray(value) && !isPlain(value)) return false
  seen.add(value)
  const fine = Object.values(value).every(item => item === undefined || isJson(item, seen))
  seen.delete(value)
  return fine
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

function quoted(value: unknown): string {
  return typeof value === 'string' ? ` "${value}"` : ''
}

function typeName(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
