import type { Json } from '../protocol/json.ts'
import type { WrittenValue } from '../shape/fields.ts'
import { quoted } from '../shape/place.ts'
import type { Notes } from '../shape/shape.ts'
import { brokenRule, fitValue, isScalar } from './fit-value.ts'
import type { WrittenParameter } from './parameter-shape.ts'
import { judgePattern } from './pattern.ts'
import type { ParameterRules, ParameterType, Scalar } from './spec.ts'

/** Of which parameter rules are, as messages call it. */
interface Subject {
  readonly type: ParameterType
  readonly who: string
}

const lengths = ['minLength', 'maxlength', 'maxLength'] as const
const bounds = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'] as const

/** What a parameter demands of its values. A rule that says nothing about the type is left out, with a warning. */
export function readRules(given: WrittenParameter, subject: Subject, notes: Notes): ParameterRules {
  const { type, who } = subject
  const warnOfNoEffect = (keys: readonly (keyof WrittenParameter)[], kind: string) => {
    for (const key of keys.filter(one => given[one] !== undefined))
      notes.warning(`"${key}" has no effect, because ${who} is not ${kind}; take it out`, key)
  }
  const pattern = readPattern(given.pattern, who, notes)
  const allowed = readEnum(given.enum, subject, notes)
  const isText = type === 'string'
  const isNumber = type === 'integer' || type === 'number'
  if (!isText) warnOfNoEffect([...lengths, 'pattern'], 'a string')
  if (!isNumber) warnOfNoEffect(bounds, 'a number')
  return {
    enum: allowed,
    ...(isText && { ...readLengths(given, who, notes), pattern }),
    ...(isNumber && readBounds(given, who, notes)),
  }
}

/** It is filled in for users who leave the parameter out: one that does not fit would refuse every one of them. */
export function readDefault(
  given: WrittenValue | undefined,
  { type, rules, who }: Subject & { readonly rules: ParameterRules },
  notes: Notes,
): Json | undefined {
  if (given === undefined) return undefined
  const value = fitValue(given, type)
  if (value === undefined) return notes.error(`the default of ${who} is not of type ${type}; correct it`, 'default')
  const rule = brokenRule(value, rules)
  if (rule !== undefined)
    return notes.error(`the default of ${who} breaks its own "${rule}"; correct one of them`, 'default')
  const article = type === 'integer' ? 'an' : 'a'
  if (value !== given.value)
    notes.warning(`the default of ${who} is taken as ${article} ${type}; ${quotes(type)}`, 'default')
  return value
}

function readEnum(
  given: WrittenParameter['enum'],
  { type, who }: Subject,
  notes: Notes,
): readonly Scalar[] | undefined {
  if (given === undefined) return undefined
  if (type === 'object' || type === 'array' || type === 'null')
    return notes.error(`${who} is of type ${type}, which can have no "enum"; take it out, or use JSON Schema`, 'enum')
  if (given.length === 0) return notes.error(`the enum of ${who} is empty; list its values, or take it out`, 'enum')
  const values = new Set<Scalar>()
  for (const [index, entry] of given.entries()) {
    const value = entry && fitValue(entry, type)
    const at = ['enum', index] as const
    if (!isScalar(value)) {
      notes.error(`this value of the enum of ${who} is not of type ${type}; correct it`, ...at)
      continue
    }
    if (value !== entry?.value)
      notes.warning(`it is taken as the ${type} ${quoted(String(value))}; ${quotes(type)}`, ...at)
    if (values.has(value)) notes.warning(`the enum of ${who} has this value twice; remove one of them`, ...at)
    values.add(value)
  }
  return [...values]
}

/** Zero means that there is no such rule, as the format has it. */
function readLengths({ minLength = 0, maxlength = 0, maxLength = 0 }: WrittenParameter, who: string, notes: Notes) {
  const longest = maxLength || maxlength
  if (longest > 0 && minLength > longest)
    notes.error(`no text fits ${who}: its minimum length is above its maximum length; correct one of them`, 'minLength')
  return { minLength: minLength || undefined, maxLength: longest || undefined }
}

function readBounds(given: WrittenParameter, who: string, notes: Notes) {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf = 0 } = given
  const least = Math.max(minimum ?? -Infinity, exclusiveMinimum ?? -Infinity)
  const most = Math.min(maximum ?? Infinity, exclusiveMaximum ?? Infinity)
  if (multipleOf < 0) notes.error(`"multipleOf" of ${who} must be above 0; correct it`, 'multipleOf')
  if (least > most || (least === most && (least === exclusiveMinimum || most === exclusiveMaximum))) {
    const problem = `no number fits ${who}: its lower bound is not below its upper one`
    notes.error(`${problem}; correct one of them`, bounds.find(key => given[key] !== undefined) ?? 'minimum')
  }
  return { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf: multipleOf || undefined }
}

function readPattern(pattern: string | undefined, who: string, notes: Notes): string | undefined {
  if (pattern === undefined) return undefined
  const { error, warning } = judgePattern(pattern)
  if (error !== undefined) return notes.error(`the pattern of ${who} ${error}`, 'pattern')
  if (warning !== undefined) notes.warning(`the pattern of ${who} ${warning}`, 'pattern')
  return pattern
}

function quotes(type: ParameterType): string {
  return type === 'string' ? 'write it in quotes' : 'write it without quotes'
}
