import { quoted } from '../shape/place.ts'
import { bounds, lengths, readDefault, readRules } from './read-rules.ts'
import { asText, type Fields, isInherited, type Reading } from './reading.ts'
import type { Item } from './source.ts'
import type { BundleParameter, ParameterType } from './spec.ts'

/** A parameter as far as it can be read by itself: its condition speaks of another one. */
export interface ReadParameter {
  readonly item: Item
  readonly dependencies?: Item
  readonly parameter: BundleParameter
}

/** Undefined where it is broken beyond use; the problem is noted. */
export function readParameter(item: Item, reading: Reading): ReadParameter | undefined {
  const fields = reading.object(item, 'a parameter', known)
  if (fields === undefined) return undefined
  const name = readName(item, fields, reading)
  if (name === undefined) return undefined
  const who = `the parameter ${quoted(name)}`
  const type = readType(item, fields, who, reading)
  if (type === undefined) return undefined

  const displayType = readLabel(fields.get('displayType'), '"display_type"', reading)
  const secret = reading.flag(fields.get('sensitive'), '"sensitive"') ?? false
  const rules = readRules(fields, type, who, reading)
  const sensitive = secret || displayType === 'password'
  const fallback = readDefault(fields.get('default'), { type, rules, who }, reading)
  warnOfDisplay(fields.get('displayType'), displayType, who, reading)
  warnOfTypeEnum(item, fields, who, reading)
  if (sensitive && fallback !== undefined && fallback !== '')
    reading.warn(
      fields.get('default') ?? item,
      `${who} is a secret, and everybody can read its default in the catalog; take the default out`,
    )
  const dependencies = fields.get('dependencies')
  return {
    item,
    dependencies,
    parameter: {
      name,
      type,
      required: reading.flag(fields.get('required'), '"required"') ?? false,
      updatable: reading.flag(fields.get('updatable'), '"updatable"') ?? false,
      sensitive,
      title: readLabel(fields.get('title'), '"title"', reading),
      description: readLabel(fields.get('description'), '"description"', reading),
      default: fallback,
      displayType,
      displayGroup: readLabel(fields.get('displayGroup'), '"display_group"', reading),
      ...rules,
    },
  }
}

const known: readonly string[] = [
  'name',
  'title',
  'description',
  'type',
  'default',
  'required',
  'updatable',
  'sensitive',
  'maxlength',
  ...lengths,
  'pattern',
  ...bounds,
  'enum',
  'displayType',
  'displayGroup',
  'dependencies',
]

const types: ReadonlyMap<string, ParameterType> = new Map([
  ['string', 'string'],
  ['enum', 'string'],
  ['int', 'integer'],
  ['integer', 'integer'],
  ['number', 'number'],
  ['bool', 'boolean'],
  ['boolean', 'boolean'],
  ['object', 'object'],
  ['array', 'array'],
  ['nil', 'null'],
  ['null', 'null'],
])

/** What an action gets beside the parameters, and under names of its own. */
const reserved: ReadonlySet<string> = new Set(['namespace', 'cluster'])

function readName(item: Item, fields: Fields, reading: Reading): string | undefined {
  const written = fields.get('name')
  if (written === undefined) return reading.error(item, 'the parameter has no name; give it one with "name"')
  const name = reading.text(written, 'the name of a parameter')
  if (name === undefined) return undefined
  if (isInherited(name)) return reading.error(written, `a parameter cannot be called ${quoted(name)}; rename it`)
  if (name.startsWith('_apb_') || reserved.has(name))
    reading.warn(written, `the broker itself passes ${quoted(name)} to the bundle; give the parameter another name`)
  return name
}

function readType(item: Item, fields: Fields, who: string, reading: Reading): ParameterType | undefined {
  const choice = `use one of ${[...types.keys()].join(', ')}`
  const written = fields.get('type')
  if (written === undefined) return reading.error(item, `${who} has no type; ${choice}`)
  const word = asText(written)
  const type = word === undefined ? undefined : types.get(word.toLowerCase())
  return type ?? reading.error(written, `${who} has the unknown type ${quoted(word ?? '')}; ${choice}`)
}

/** An empty text is what other brokers write where there is none. */
function readLabel(item: Item | undefined, what: string, reading: Reading): string | undefined {
  return item?.value === '' ? undefined : reading.text(item, what)
}

const displayTypes: readonly string[] = ['text', 'textarea', 'password', 'checkbox', 'select']

function warnOfDisplay(item: Item | undefined, displayType: string | undefined, who: string, reading: Reading): void {
  if (item !== undefined && displayType !== undefined && !displayTypes.includes(displayType))
    reading.warn(
      item,
      `the display type of ${who} is none that forms are known to show; use ${displayTypes.join(', ')}`,
    )
}

function warnOfTypeEnum(item: Item, fields: Fields, who: string, reading: Reading): void {
  const type = fields.get('type')
  if (type !== undefined && asText(type)?.toLowerCase() === 'enum' && !fields.has('enum'))
    reading.warn(item, `${who} is an enum without values and takes any text; list its values under "enum"`)
}
