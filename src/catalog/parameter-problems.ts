import type { ErrorObject } from 'ajv'
import type { StandardIssue } from './standard-schema.ts'

/**
 * Sentences for the platform's user: each names a field and the rule it breaks. None repeats the value, which may be a
 * secret; what is quoted comes from the schema or is a field's name.
 */
export function describeErrors(errors: readonly ErrorObject[], root = 'parameters'): string[] {
  return bounded(errors.map(error => root + describeError(error)))
}

export function describeIssues(issues: readonly StandardIssue[], root = 'parameters'): string[] {
  return bounded(
    issues.map(({ path = [], message }) => {
      const keys = path.map(part => (typeof part === 'object' ? part.key : part))
      return `${root}${fieldName(keys.map(String))}: ${message}`
    }),
  )
}

const maxProblems = 20
const maxListed = 20
const maxName = 64

function bounded(problems: readonly string[]): string[] {
  const distinct = [...new Set(problems)]
  const more = distinct.length - maxProblems
  return more > 0 ? [...distinct.slice(0, maxProblems), `and ${more} more`] : distinct
}

function describeError(error: ErrorObject): string {
  const path = error.instancePath.split('/').slice(1).map(unescapePointer)
  const params: Record<string, unknown> = error.params
  switch (error.keyword) {
    case 'required':
      return `${fieldName([...path, String(params.missingProperty)])}: is required`
    case 'additionalProperties':
      return `${fieldName([...path, String(params.additionalProperty)])}: is not a known parameter`
    case 'unevaluatedProperties':
      return `${fieldName([...path, String(params.unevaluatedProperty)])}: is not a known parameter`
    case 'enum':
      return `${fieldName(path)}: must be one of ${list(params.allowedValues)}`
    case 'const':
      return `${fieldName(path)}: must be ${show(params.allowedValue)}`
    case 'type':
      return `${fieldName(path)}: must be of type ${[params.type].flat().join(' or ')}`
    default: {
      const named = error.propertyName === undefined ? path : [...path, error.propertyName]
      return `${fieldName(named)}: ${error.message ?? `breaks the rule "${error.keyword}"`}`
    }
  }
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
