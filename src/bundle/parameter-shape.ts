import type { Json, JsonObject } from '../protocol/json.ts'
import { asText, flag, text, type WrittenValue, written } from '../shape/fields.ts'
import { isObject, quoted } from '../shape/place.ts'
import { convert, fallback, field, list, type Notes, object, optional, type Sound, unless } from '../shape/shape.ts'
import { fitNumber } from './fit-value.ts'
import { readDefault, readRules } from './parameter-rules.ts'
import type { BundleParameter, ParameterType } from './spec.ts'

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

export type WrittenParameter = Sound<typeof parameterFields>

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
  const rules = readRules(given, { type, who }, notes)
  const preset = readDefault(given.default, { type, rules, who }, notes)
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
  return { name, type, required, updatable, sensitive, default: preset, ...shown, ...rules, dependencies }
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

function readType(given: WrittenValue | undefined, who: string, notes: Notes): ParameterType | undefined {
  const choice = `use one of ${[...parameterTypes, ...aliases.keys()].join(', ')}`
  if (given === undefined) return notes.error(`${who} has no type; ${choice}`)
  const word = wordOf(given)
  const type = parameterTypes.find(one => one === word) ?? aliases.get(word)
  return type ?? notes.error(`${who} has the unknown type ${quoted(asText(given) ?? '')}; ${choice}`, 'type')
}

function wordOf(type: WrittenValue | undefined): string {
  return (type && asText(type)?.toLowerCase()) ?? ''
}
