import type { ErrorObject } from 'ajv'
import type { StandardIssue } from './standard-schema.ts'

/**
 * Sentences for the platform's user: each names a field and the rule it breaks. None repeats the value, which may be a
 * secret; what is quoted comes from the schema or is a field's name.
 */
export function describeErrors(errors: readonly ErrorObject[], root = 'parameters'): string[] {
  const noun = root === 'parameters' ? 'parameter' : 'field'
  return bounded(errors, error => root + describeError(error, noun))
}

export function describeIssues(issues: readonly StandardIssue[], root = 'parameters'): string[] {
  return bounded(issues, ({ path = [], message }) => {
    const keys = path.map(part => (typeof part === 'object' ? part.key : part))
    return `${root}${fieldName(keys.map(String))}: ${message}`
  })
}

const maxProblems = 20
const mostLookedAt = 1000
const maxListed = 20
const maxName = 64

/** Several branches of a schema may say the same. */
function bounded<Problem>(problems: readonly Problem[], describe: (problem: Problem) => string): string[] {
  const distinct = [...new Set(problems.slice(0, mostLookedAt).map(describe))]
  const told = distinct.slice(0, maxProblems)
  const more = distinct.length - told.length + Math.max(0, problems.length - mostLookedAt)
  return more > 0 ? [...told, `and ${more} more`] : told
}

function describeError(error: ErrorObject, noun: string): string {
  const { instancePath, keyword, params, propertyName, message } = error
  const path = instancePath.split('/').slice(1).map(unescapePointer)
  const { missingProperty, additionalProperty, unevaluatedProperty }: Record<string, unknown> = params
  const unknown = additionalProperty ?? unevaluatedProperty
  if (keyword === 'required') return `${fieldName([...path, String(missingProperty)])}: is required`
  if (unknown !== undefined) return `${fieldName([...path, String(unknown)])}: is not a known ${noun}`
  const rule = rules[keyword]?.(params) ?? message ?? `breaks the rule "${keyword}"`
  return `${fieldName(propertyName === undefined ? path : [...path, propertyName])}: ${rule}`
}

/** Where the compiler's own words say less. */
const rules: Readonly<Record<string, (params: ErrorObject['params']) => string>> = {
  enum: ({ allowedValues }) => `must be one of ${list(allowedValues)}`,
  const: ({ allowedValue }) => `must be ${show(allowedValue)}`,
  type: ({ type }) => `must be of type ${[type].flat().join(' or ')}`,
}

function fieldName(path: readonly string[]): string {
  return path.reduce((name, part) => {
    if (/^\d{1,9}$/.test(part)) return `${name}[${part}]`
    if (/^[\w$-]{1,64}$/.test(part)) return `${name}.${part}`
    return `${name}[${JSON.stringify(part.length > maxName ? `${part.slice(0, maxName)}…` : part)}]`
  }, '')
}

function list(values: unknown): string {
  const all = Array.isArray(values) ? values : [values]
  const shown = all.slice(0, maxListed).map(show).join(', ')
  return all.length > maxListed ? `${shown}, …` : shown
}

function show(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~')
}
