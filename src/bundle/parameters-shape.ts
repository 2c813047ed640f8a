import { draftOf, drafts } from '../catalog/json-schema-draft.ts'
import { visitSchemas } from '../catalog/json-schema-walk.ts'
import { isJsonObject, type JsonObject } from '../protocol/json.ts'
import { asText, type WrittenValue } from '../shape/fields.ts'
import { isObject, quoted } from '../shape/place.ts'
import { convert, list, type Notes, unless } from '../shape/shape.ts'
import { fitValue, isScalar } from './fit-value.ts'
import { isInherited, parameter, type ReadParameter } from './parameter-shape.ts'
import type { BundleParameter, BundleParameters, ParameterCondition, Scalar } from './spec.ts'
import { toCreateSchema } from './to-schema.ts'

/** The OSB API's limit for one schema (SCH-05). */
const maxSchemaBytes = 64 * 1024

/** A list of parameters, or JSON Schema. */
export const parameters = convert(unless(isJsonObject, list(parameter)), (given, notes): BundleParameters => {
  const read = isJsonObject(given) ? readSchema(given, notes) : readList(given, notes)
  const size = Buffer.byteLength(JSON.stringify(toCreateSchema(read)))
  const problem = `as JSON Schema they have ${size} bytes, and the OSB API allows ${maxSchemaBytes}`
  if (size > maxSchemaBytes) notes.error(`${problem}; shorten texts and defaults`)
  return read
})

function readList(entries: readonly (ReadParameter | undefined)[], notes: Notes): BundleParameters {
  const names = new Map<string, BundleParameter>()
  const list = new Map<number, ReadParameter>()
  for (const [index, entry] of entries.entries()) {
    if (entry === undefined) continue
    if (names.has(entry.name))
      notes.error(`there is a second parameter ${quoted(entry.name)}; give each one a name of its own`, index)
    else list.set(index, entry)
    names.set(entry.name, entry)
  }
  // A parameter that is broken itself may be the one that others depend on: then nothing can be said of them.
  const complete = list.size === entries.length
  const settled = Array.from(list, ([index, { dependencies, ...rest }]): BundleParameter => {
    const own: Notes = {
      error: (problem, ...path) => notes.error(problem, index, 'dependencies', ...path),
      warning: (problem, ...path) => notes.warning(problem, index, 'dependencies', ...path),
    }
    const isDependent = complete && dependencies !== undefined && dependencies.length > 0
    return isDependent ? { ...rest, dependsOn: readCondition(rest, dependencies, names, own) } : rest
  })
  return { kind: 'list', list: settled }
}

/** Of a list of conditions only the first entry counts: forms could never show more. */
function readCondition(
  { name, default: preset }: BundleParameter,
  [first, ...others]: NonNullable<ReadParameter['dependencies']>,
  all: ReadonlyMap<string, BundleParameter>,
  notes: Notes,
): ParameterCondition | undefined {
  const who = `the parameter ${quoted(name)}`
  if (others.length > 0) notes.warning(`only the first dependency of ${who} counts; remove the others`, 1)
  const { key: written, value } = isObject(first) ? first : {}
  const key = (written && asText(written)) ?? ''
  if (key.trim() === '') return notes.error(`the dependency of ${who} has no "key"; name a parameter there`, 0)
  const other = all.get(key)
  if (other === undefined || key === name) {
    const problem = `${who} depends on ${quoted(key)}, which is not another parameter of this plan`
    return notes.error(`${problem}; correct it`, 0, 'key')
  }
  const values = value && readValues(value, other, who, notes)
  if (values !== undefined && preset !== undefined) {
    const problem = `the default of ${who} is not filled in, since draft-04 cannot do so under a condition`
    notes.warning(`${problem}, and so the parameter may be left out; let the bundle have the default too`, 0)
  }
  return { key, values }
}

function readValues(
  given: WrittenValue,
  { name, type, enum: allowed }: BundleParameter,
  who: string,
  notes: Notes,
): readonly Scalar[] | undefined {
  const values = new Set<Scalar>()
  const dependent = `${who} depends on`
  for (const [index, entry] of (given.items ?? [given]).entries()) {
    const at = [0, 'value', index] as const
    const value = fitValue(entry, type)
    if (!isScalar(value))
      notes.error(`${dependent} a value that ${quoted(name)} cannot have: it is not of type ${type}; correct it`, ...at)
    else if (allowed?.includes(value) === false)
      notes.warning(`${dependent} a value that is not in the enum of ${quoted(name)}; remove it`, ...at)
    else values.add(value)
  }
  if (values.size > 0) return [...values]
  const problem = `${dependent} no value that ${quoted(name)} can have, and could never be given`
  return notes.error(`${problem}; correct it`, 0, 'value')
}

const schemaWords = ['type', 'properties', '$schema', '$ref', 'allOf', 'anyOf', 'oneOf', 'additionalProperties']

function readSchema(schema: JsonObject, notes: Notes): BundleParameters {
  if (!schemaWords.some(word => Object.hasOwn(schema, word)))
    notes.error('it is neither a list of parameters nor JSON Schema; begin each one with "- name:"')
  else if (schema.type !== undefined && ![schema.type].flat().includes('object'))
    notes.error('the schema takes no object, and parameters always are one; write "type: object"')
  if (draftOf(schema) === undefined)
    notes.error(`its "$schema" names none of the known drafts; use one of ${drafts.join(', ')}`)
  visitSchemas(schema, ({ $ref, properties }) => {
    for (const name of isJsonObject(properties) ? Object.keys(properties).filter(isInherited) : [])
      notes.error(`a parameter cannot be called ${quoted(name)}; rename it`)
    if (typeof $ref === 'string' && !$ref.startsWith('#'))
      notes.error(`it refers to ${quoted($ref)}; put that into the schema: a $ref begins with #`)
  })
  return { kind: 'schema', schema }
}
