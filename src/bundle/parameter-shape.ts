import { judgePattern } from '../catalog/judge-pattern.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import { asText, flag, text, type WrittenValue, written } from '../shape/fields.ts'
import { isObject, quoted } from '../shape/place.ts'
import { convert, fallback, field, list, type Notes, object, optional, type Sound, unless } from '../shape/shape.ts'
import { brokenRule, fitNumber, fitValue, isScalar } from './fit-value.ts'
import type { BundleParameter, ParameterRules, ParameterType, Scalar } from './spec.ts'

/** An empty text is what other brokers write where there is none. */
export const label = optional(convert(text({ allows: /^$|\S/ }), given => given || undefined))

const bound = optional(
  field<number, number>({ kind: 'other', rule: 'a number', remedy: 'write the number' }, fitNumber),
)

const length = optional(
  field<number, number>({ kind: 'other', rule: 'a whole number from 0 on', remedy: 'correct it' }, value => {
    const number = fitNumber(value) ?? -1
    return Number.isInteger(number) && number >= 0 ? number : undefined
  }),
)

/** Only the first entry of `dependencies` counts: others may be anything. */
const dependency = unless(isNotMap, object({ key: optional(written()), value: optional(written()) }))

function isNotMap(value: unknown): value is Exclude<Json, JsonObject> {
  return !isObject(value)
}

const parameterFields = object(
  {
    name: text({ noun: 'the name of a parameter' }),
    title: label,
    description: label,
    type: optional(written()),
    default: optional(written()),
    required: fallback(flag(), false),
    updatable: fallback(flag(), false),
    sensitive: fallback(flag(), false),
    // An older spelling, over which the other one wins.
    maxlength: length,
    minLength: length,
    maxLength: length,
    pattern: label,
    minimum: bound,
    maximum: bound,
    exclusiveMinimum: bound,
    exclusiveMaximum: bound,
    multipleOf: bound,
    enum: optional(list(written())),
    displayType: label,
    displayGroup: label,
    dependencies: optional(list(dependency)),
  },
  { noun: 'a parameter' },
)

type WrittenParameter = Sound<typeof parameterFields>

/** A parameter as far as it can be read by itself: its condition speaks of another one. */
export interface ReadParameter extends BundleParameter {
  readonly dependencies?: WrittenParameter['dependencies']
}

const displayTypes: readonly string[] = ['text', 'textarea', 'password', 'checkbox', 'select']

export const parameter = convert(parameterFields, (given, notes): ReadParameter | undefined => {
  const { name, title, description, required = false, updatable = false, displayType, displayGroup } = given
  if (name === undefined || !checkName(name, notes)) return undefined
  const who = `the parameter ${quoted(name)}`
  const type = readType(given.type, who, notes)
  if (type === undefined) return undefined
  const sensitive = given.sensitive === true || displayType === 'password'
  const written = readRules(given, { type, who }, notes)
  const preset = readDefault(given.default, { type, who }, notes)
  const { rules, exempt } = settleDefault(preset, written, who, notes)
  if (displayType !== undefined && !displayTypes.includes(displayType)) {
    const problem = `the display type of ${who} is none that forms are known to show`
    notes.warning(`${problem}; use ${displayTypes.join(', ')}`, 'displayType')
  }
  if (wordOf(given.type) === 'enum' && given.enum === undefined)
    notes.warning(`${who} is an enum without values and takes any text; list its values under "enum"`)
  if (sensitive && preset !== undefined && preset !== '') {
    const problem = `${who} is a secret, and everybody can read its default in the catalog`
    notes.warning(`${problem}; take the default out`, 'default')
  }
  const shown = { title, description, displayType, displayGroup }
  const { dependencies } = given
  return { name, type, required, updatable, sensitive, default: preset, exempt, ...shown, ...rules, dependencies }
})

/** What an action gets beside the parameters, and under names of its own. */
const reserved: readonly string[] = ['namespace', 'cluster']

function checkName(name: string, notes: Notes): boolean {
  if (isInherited(name)) notes.error(`a parameter cannot be called ${quoted(name)}; rename it`, 'name')
  if (name.startsWith('_apb_') || reserved.includes(name))
    notes.warning(`the broker itself passes ${quoted(name)} to the bundle; give the parameter another name`, 'name')
  return !isInherited(name)
}

/** Names that every object has already: validators take them for present where nobody gave them. */
export function isInherited(name: string): boolean {
  return name in Object.prototype
}

const parameterTypes: readonly ParameterType[] = ['string', 'integer', 'number', 'boolean', 'object', 'array', 'null']
const aliases = new Map<string, ParameterType>(
  Object.entries({ enum: 'string', int: 'integer', bool: 'boolean', nil: 'null' }),
)
const typeChoice = `use one of ${[...parameterTypes, ...aliases.keys()].join(', ')}`

function readType(given: WrittenValue | undefined, who: string, notes: Notes): ParameterType | undefined {
  if (given === undefined) return notes.error(`${who} has no type; ${typeChoice}`)
  const word = wordOf(given)
  const type = parameterTypes.find(one => one === word) ?? aliases.get(word)
  return type ?? notes.error(`${who} has the unknown type ${quoted(asText(given) ?? '')}; ${typeChoice}`, 'type')
}

function wordOf(type: WrittenValue | undefined): string {
  return (type && asText(type)?.toLowerCase()) ?? ''
}

/** Of which parameter rules are, as messages call it. */
interface Subject {
  readonly type: ParameterType
  readonly who: string
}

const lengths = ['minLength', 'maxlength', 'maxLength'] as const
const bounds = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'] as const

/** What a parameter demands of its values. A rule that says nothing about the type is left out, with a warning. */
function readRules(given: WrittenParameter, subject: Subject, notes: Notes): ParameterRules {
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

function readDefault(given: WrittenValue | undefined, { type, who }: Subject, notes: Notes): Json | undefined {
  if (given === undefined) return undefined
  const value = fitValue(given, type)
  if (value === undefined) return notes.error(`the default of ${who} is not of type ${type}; correct it`, 'default')
  const article = type === 'integer' ? 'an' : 'a'
  if (value !== given.value)
    notes.warning(`the default of ${who} is taken as ${article} ${type}; ${quotes(type)}`, 'default')
  return value
}

/**
 * A default is filled in for users who leave the parameter out, and what is filled in is judged like anything else. Bundles
 * whose default breaks their own rules exist, and are run by it: so the rules let that one value pass.
 */
function settleDefault(preset: Json | undefined, rules: ParameterRules, who: string, notes: Notes) {
  if (!isScalar(preset)) return { rules }
  const outside = rules.enum?.includes(preset) === false
  const settled = outside ? { ...rules, enum: [...(rules.enum ?? []), preset] } : rules
  const broken = brokenRule(preset, settled)
  for (const rule of [outside ? 'enum' : undefined, broken])
    if (rule !== undefined)
      notes.warning(
        `the default of ${who} breaks its own "${rule}", and is taken all the same; correct one of them`,
        'default',
      )
  return { rules: settled, exempt: broken && preset }
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
