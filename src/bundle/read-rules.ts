import type { Json } from '../protocol/json.ts'
import { quoted } from '../shape/place.ts'
import { brokenRule, fitValue, type Rules } from './fit-value.ts'
import { judgePattern } from './pattern.ts'
import type { Fields, Reading } from './reading.ts'
import type { Item } from './source.ts'
import type { ParameterType, Scalar } from './spec.ts'

export const lengths = ['minLength', 'maxLength'] as const
export const bounds = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'] as const

/** What a parameter demands of its values. A rule that says nothing about the type is left out, with a warning. */
export function readRules(fields: Fields, type: ParameterType, who: string, reading: Reading): Rules {
  return {
    enum: readEnum(fields.get('enum'), type, who, reading),
    ...readLengths(fields, type, who, reading),
    ...readBounds(fields, type, who, reading),
    pattern: readPattern(fields.get('pattern'), type, who, reading),
  }
}

/** It is filled in for users who leave the parameter out: one that does not fit would refuse every one of them. */
export function readDefault(
  item: Item | undefined,
  { type, rules, who }: { readonly type: ParameterType; readonly rules: Rules; readonly who: string },
  reading: Reading,
): Json | undefined {
  if (item === undefined) return undefined
  const value = fitValue(item, type)
  if (value === undefined) return reading.error(item, `the default of ${who} is not of type ${type}; correct it`)
  const rule = brokenRule(value, rules)
  if (rule !== undefined)
    return reading.error(item, `the default of ${who} breaks its own "${rule}"; correct one of them`)
  if (value !== item.value) reading.warn(item, `the default of ${who} is taken as ${article(type)}; ${quotes(type)}`)
  return value
}

function readEnum(
  item: Item | undefined,
  type: ParameterType,
  who: string,
  reading: Reading,
): readonly Scalar[] | undefined {
  if (item === undefined) return undefined
  if (type === 'object' || type === 'array' || type === 'null')
    return reading.error(item, `${who} is of type ${type}, which can have no "enum"; take it out, or use JSON Schema`)
  const entries = reading.list(item, '"enum"')
  const values: Scalar[] = []
  for (const entry of entries) {
    const value = fitValue(entry, type)
    if (value === undefined || typeof value === 'object')
      reading.error(entry, `this value of the enum of ${who} is not of type ${type}; correct it`)
    else {
      if (value !== entry.value)
        reading.warn(entry, `it is taken as the ${type} ${quoted(String(value))}; ${quotes(type)}`)
      if (values.includes(value)) reading.warn(entry, `the enum of ${who} has this value twice; remove one of them`)
      else values.push(value)
    }
  }
  if (Array.isArray(item.value) && entries.length === 0)
    return reading.error(item, `the enum of ${who} is empty; list its values, or take it out`)
  return values
}

function readLengths(fields: Fields, type: ParameterType, who: string, reading: Reading) {
  const read = (key: string) => {
    const item = fields.get(key)
    if (item === undefined) return undefined
    const value = fitValue(item, 'integer')
    if (typeof value !== 'number' || value < 0)
      return reading.error(item, `"${key}" of ${who} must be a whole number from 0 on; correct it`)
    if (type !== 'string') return reading.warn(item, noEffect(key, who, 'a string'))
    return value === 0 ? undefined : value
  }
  // The longer spelling wins over the older one.
  const [minLength, older, newer] = [read('minLength'), read('maxlength'), read('maxLength')]
  const maxLength = newer ?? older
  const at = fields.get('minLength')
  if (at !== undefined && minLength !== undefined && maxLength !== undefined && minLength > maxLength)
    reading.error(at, `no text fits ${who}: its minimum length is above its maximum length; correct one of them`)
  return { minLength, maxLength }
}

function readBounds(fields: Fields, type: ParameterType, who: string, reading: Reading) {
  const read = (key: (typeof bounds)[number]) => {
    const item = fields.get(key)
    if (item === undefined) return undefined
    const value = fitValue(item, 'number')
    if (typeof value !== 'number') return reading.error(item, `"${key}" of ${who} must be a number; write the number`)
    return type === 'integer' || type === 'number' ? value : reading.warn(item, noEffect(key, who, 'a number'))
  }
  const [minimum, maximum] = [read('minimum'), read('maximum')]
  const [exclusiveMinimum, exclusiveMaximum] = [read('exclusiveMinimum'), read('exclusiveMaximum')]
  const multipleOf = read('multipleOf')
  const least = Math.max(minimum ?? -Infinity, exclusiveMinimum ?? -Infinity)
  const most = Math.min(maximum ?? Infinity, exclusiveMaximum ?? Infinity)
  const step = fields.get('multipleOf')
  if (step !== undefined && multipleOf !== undefined && multipleOf < 0)
    reading.error(step, `"multipleOf" of ${who} must be above 0; correct it`)
  const at = bounds.map(key => fields.get(key)).find(item => item !== undefined)
  if (
    at !== undefined &&
    (least > most || (least === most && (least === exclusiveMinimum || most === exclusiveMaximum)))
  )
    reading.error(at, `no number fits ${who}: its lower bound is not below its upper one; correct one of them`)
  return {
    minimum,
    maximum,
    exclusiveMinimum,
    exclusiveMaximum,
    multipleOf: multipleOf === 0 ? undefined : multipleOf,
  }
}

function readPattern(item: Item | undefined, type: ParameterType, who: string, reading: Reading): string | undefined {
  const pattern = item?.value === '' ? undefined : reading.text(item, '"pattern"')
  if (item === undefined || pattern === undefined) return undefined
  const { error, warning } = judgePattern(pattern)
  if (error !== undefined) return reading.error(item, `the pattern of ${who} ${error}`)
  if (warning !== undefined) reading.warn(item, `the pattern of ${who} ${warning}`)
  return type === 'string' ? pattern : reading.warn(item, noEffect('pattern', who, 'a string'))
}

function noEffect(key: string, who: string, type: string): string {
  return `"${key}" has no effect, because ${who} is not ${type}; take it out`
}

function quotes(type: ParameterType): string {
  return type === 'string' ? 'write it in quotes' : 'write it without quotes'
}

function article(type: ParameterType): string {
  return type === 'integer' ? 'an integer' : `a ${type}`
}
