import { isDeepStrictEqual } from 'node:util'
import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'

/** One place where a schema takes less than it did. */
export interface Narrowing {
  /** Of the value: `/` and property names; `*` stands for the items of a list. */
  readonly path: string
  readonly problem: string
}

/**
 * Where the second schema refuses what the first one took. Plain keywords are compared; of the others (conditions,
 * references, combinations) it is only said that they differ: a person has to decide what that means. Where there is no
 * schema, everything is taken.
 */
export function narrowingsOf(before: JsonObject | undefined, after: JsonObject | undefined): Narrowing[] {
  // Parameters are always an object, whether or not their schema says so.
  return after === undefined ? [] : compare({ type: 'object', ...before }, { type: 'object', ...after }, '')
}

function compare(before: JsonObject, after: JsonObject, path: string): Narrowing[] {
  if (isDeepStrictEqual(before, after)) return []
  const problems = [typeProblems, valueProblems, boundProblems, exactProblems, requiredProblems, otherProblems]
    .flatMap(problemsOf => problemsOf(before, after))
    .map(problem => ({ path: path === '' ? '/' : path, problem }))
  return [...problems, ...propertyNarrowings(before, after, path), ...itemNarrowings(before, after, path)]
}

const allTypes = ['string', 'number', 'boolean', 'object', 'array', 'null']

function typeProblems(before: JsonObject, after: JsonObject): string[] {
  const taken = typesOf(after)
  const lost = [...new Set(typesOf(before))].filter(
    type => !taken.includes(type) && !(type === 'integer' && taken.includes('number')),
  )
  return lost.length === 0 ? [] : [`no longer takes ${lost.join(', ')}`]
}

function typesOf(schema: JsonObject): readonly Json[] {
  const { type } = schema
  if (type === undefined) return valuesOf(schema)?.map(typeOf) ?? allTypes
  return Array.isArray(type) ? type : [type]
}

function typeOf(value: Json): string {
  if (value === null) return 'null'
  if (Number.isInteger(value)) return 'integer'
  return Array.isArray(value) ? 'array' : typeof value
}

/** `const` is an `enum` of one. */
function valueProblems(before: JsonObject, after: JsonObject): string[] {
  const taken = valuesOf(after)
  if (taken === undefined) return []
  const had = valuesOf(before)
  if (had === undefined) return ['takes only some values now']
  const lost = had.filter(value => !taken.some(other => isDeepStrictEqual(value, other)))
  return lost.length === 0 ? [] : [`no longer takes the value ${lost.map(value => JSON.stringify(value)).join(', ')}`]
}

function valuesOf(schema: JsonObject): readonly Json[] | undefined {
  if (schema.const !== undefined) return [schema.const]
  return Array.isArray(schema.enum) ? schema.enum : undefined
}

const none = Number.POSITIVE_INFINITY
const upperBounds = ['maxLength', 'maxItems', 'maxProperties']
const lowerBounds = ['minLength', 'minItems', 'minProperties']

function boundProblems(before: JsonObject, after: JsonObject): string[] {
  const upper = upperBounds.filter(keyword => numberOf(after, keyword, none) < numberOf(before, keyword, none))
  const lower = lowerBounds.filter(keyword => numberOf(after, keyword, 0) > numberOf(before, keyword, 0))
  const problems = [...upper, ...lower].map(keyword => `has a narrower ${keyword} (${after[keyword]})`)
  if (tightens(limitOf(before, 'maximum'), limitOf(after, 'maximum'))) problems.push('has a lower maximum')
  if (tightens(limitOf(before, 'minimum'), limitOf(after, 'minimum'))) problems.push('has a higher minimum')
  return problems
}

interface Limit {
  readonly at: number
  readonly exclusive: boolean
}

/**
 * A minimum is turned into a maximum by its sign. In draft-04 `exclusiveMaximum` is a flag of `maximum`, later a limit of
 * its own; the tighter of two counts.
 */
function limitOf(schema: JsonObject, keyword: 'maximum' | 'minimum'): Limit {
  const sign = keyword === 'maximum' ? 1 : -1
  const exclusive = schema[keyword === 'maximum' ? 'exclusiveMaximum' : 'exclusiveMinimum']
  const at = sign * numberOf(schema, keyword, sign * none)
  const plain = { at, exclusive: exclusive === true && at !== none }
  if (typeof exclusive !== 'number') return plain
  const own = { at: sign * exclusive, exclusive: true }
  return tightens(plain, own) ? own : plain
}

function tightens(before: Limit, after: Limit): boolean {
  return after.at < before.at || (after.at === before.at && after.exclusive && !before.exclusive)
}

function exactProblems(before: JsonObject, after: JsonObject): string[] {
  const problems = ['pattern', 'format']
    .filter(keyword => after[keyword] !== undefined && after[keyword] !== before[keyword])
    .map(keyword => `has another ${keyword} (${JSON.stringify(after[keyword])})`)
  const step = numberOf(after, 'multipleOf', 0)
  if (step !== 0 && numberOf(before, 'multipleOf', Number.NaN) % step !== 0)
    problems.push(`takes only multiples of ${step}`)
  if (after.uniqueItems === true && before.uniqueItems !== true) problems.push('takes no equal items any more')
  return problems
}

/** What is required and has a default is filled in: nobody has to name it. */
function requiredProblems(before: JsonObject, after: JsonObject): string[] {
  const had = namesOf(before)
  return namesOf(after)
    .filter(name => !had.includes(name) && !hasDefault(propertiesOf(after).get(name)))
    .map(name => `now requires ${JSON.stringify(name)}`)
}

function namesOf({ required }: JsonObject): readonly string[] {
  return Array.isArray(required) ? required.filter(name => typeof name === 'string') : []
}

function hasDefault(schema: JsonObject | false | undefined): boolean {
  return isJsonObject(schema) && schema.default !== undefined
}

function propertyNarrowings(before: JsonObject, after: JsonObject, path: string): Narrowing[] {
  const has = propertiesOf(after)
  const further = schemaOf(after.additionalProperties)
  const declared = [...propertiesOf(before)].flatMap(([name, had]) =>
    partNarrowings(had, has.get(name) ?? further, `${path}/${name}`),
  )
  const had = schemaOf(before.additionalProperties)
  if (had === false || further !== false) return [...declared, ...partNarrowings(had, further, `${path}/*`)]
  return [...declared, { path: path === '' ? '/' : path, problem: 'takes no undeclared properties any more' }]
}

function itemNarrowings(before: JsonObject, after: JsonObject, path: string): Narrowing[] {
  // A list of schemas means different things in different drafts: compared by hand.
  if (Array.isArray(before.items) || Array.isArray(after.items)) return []
  return partNarrowings(schemaOf(before.items), schemaOf(after.items), `${path}/*`)
}

/** Of a property, or of items. What was forbidden before cannot be lost. */
function partNarrowings(before: JsonObject | false, after: JsonObject | false, path: string): Narrowing[] {
  if (before === false) return []
  return after === false ? [{ path, problem: 'is no longer taken' }] : compare(before, after, path)
}

const compared = [
  ...['type', 'enum', 'const', 'required', 'properties', 'additionalProperties', 'pattern', 'format', 'multipleOf'],
  ...['uniqueItems', 'maximum', 'minimum', 'exclusiveMaximum', 'exclusiveMinimum', ...upperBounds, ...lowerBounds],
]
const annotations = [
  ...['$schema', '$id', 'id', '$comment', 'title', 'description', 'default', 'examples', 'example'],
  ...['readOnly', 'writeOnly', 'deprecated'],
]
const ignored: ReadonlySet<string> = new Set([...compared, ...annotations])

function otherProblems(before: JsonObject, after: JsonObject): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter(keyword => !ignored.has(keyword) && !keyword.startsWith('x-'))
    .filter(keyword => !isDeepStrictEqual(before[keyword], after[keyword]))
    .filter(keyword => keyword !== 'items' || Array.isArray(before.items) || Array.isArray(after.items))
    .map(keyword => `differs in ${JSON.stringify(keyword)}, which has to be compared by hand`)
}

function propertiesOf({ properties }: JsonObject): ReadonlyMap<string, JsonObject | false> {
  if (!isJsonObject(properties)) return new Map()
  return new Map(Object.entries(properties).map(([name, schema]) => [name, schemaOf(schema)]))
}

/** `true`, and what is not there, is the schema that takes everything. */
function schemaOf(value: Json | undefined): JsonObject | false {
  if (isJsonObject(value)) return value
  return value === false ? false : {}
}

function numberOf(schema: JsonObject, keyword: string, otherwise: number): number {
  const value = schema[keyword]
  return typeof value === 'number' ? value : otherwise
}
