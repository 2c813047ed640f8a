import { compilePattern, PatternError } from '../catalog/pattern.ts'
import { isJsonObject, type Json } from '../protocol/json.ts'
import { asFlag, asText, type WrittenValue } from '../shape/fields.ts'
import type { ParameterRules, ParameterType, Scalar } from './spec.ts'

/**
 * The value as one of the type. YAML without quotes makes a number of a version and a text of a `yes`: what can only mean
 * one thing is taken for it. Undefined where it does not fit.
 */
export function fitValue(given: WrittenValue, type: ParameterType): Json | undefined {
  const { value } = given
  switch (type) {
    case 'string':
      return asText(given)
    case 'boolean':
      return asFlag(value)
    case 'integer':
      return Number.isInteger(fitNumber(value)) ? fitNumber(value) : undefined
    case 'number':
      return fitNumber(value)
    case 'object':
      return isJsonObject(value) ? value : undefined
    case 'array':
      return Array.isArray(value) ? value : undefined
    case 'null':
      return value === null ? value : undefined
  }
}

export function fitNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && numeral.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

export function isScalar(value: Json | undefined): value is Scalar {
  return value !== undefined && value !== null && typeof value !== 'object'
}

/** The rule that a value of the right type breaks, as JSON Schema judges it. */
export function brokenRule(value: Json, rules: ParameterRules): keyof ParameterRules | undefined {
  if (rules.enum !== undefined && !rules.enum.some(allowed => allowed === value)) return 'enum'
  if (typeof value === 'string') {
    const length = [...value].length
    if (rules.minLength !== undefined && length < rules.minLength) return 'minLength'
    if (rules.maxLength !== undefined && length > rules.maxLength) return 'maxLength'
    if (rules.pattern !== undefined && !matches(rules.pattern, value)) return 'pattern'
  }
  if (typeof value === 'number') {
    if (rules.multipleOf !== undefined && !isMultiple(value, rules.multipleOf)) return 'multipleOf'
    if (rules.minimum !== undefined && value < rules.minimum) return 'minimum'
    if (rules.maximum !== undefined && value > rules.maximum) return 'maximum'
    if (rules.exclusiveMinimum !== undefined && value <= rules.exclusiveMinimum) return 'exclusiveMinimum'
    if (rules.exclusiveMaximum !== undefined && value >= rules.exclusiveMaximum) return 'exclusiveMaximum'
  }
  return undefined
}

/** A text that would take too long does not match. */
function matches(pattern: string, text: string): boolean {
  try {
    return compilePattern(pattern).test(text)
  } catch (error) {
    if (error instanceof PatternError) return false
    throw error
  }
}

/** As validators see it: a quotient that is written with an exponent is none to them. */
function isMultiple(value: number, step: number): boolean {
  const quotient = value / step
  return quotient === Number.parseInt(String(quotient), 10)
}

const numeral = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/
