import { draftUri } from '../catalog/json-schema-draft.ts'
import { mapSubschemas } from '../catalog/json-schema-walk.ts'
import { isJsonObject, type Json, type JsonObject, withoutUndefined } from '../protocol/json.ts'
import type { BundleParameter, BundleParameters, Scalar } from './spec.ts'

/** What a provision or a bind may be given. Draft-04, the one that every platform reads. */
export function toCreateSchema(parameters: BundleParameters): JsonObject {
  const known = createSchemas.get(parameters)
  if (known !== undefined) return known
  const schema = parameters.kind === 'schema' ? ofWritten(parameters.schema) : ofList(parameters.list)
  createSchemas.set(parameters, schema)
  return schema
}

/** Both who reads parameters and who offers them need it. */
const createSchemas = new WeakMap<BundleParameters, JsonObject>()

function ofWritten(schema: JsonObject): JsonObject {
  return stripped(schema, ['sensitive', 'updatable'])
}

function ofList(list: readonly BundleParameter[]): JsonObject {
  return toObjectSchema(list, toDemands(list))
}

/**
 * What an update may be given: the updatable parameters only. It fills in no defaults, since what an update leaves out
 * stays as it is.
 */
export function toUpdateSchema(parameters: BundleParameters): JsonObject {
  if (parameters.kind === 'schema') return updatableOf(parameters.schema)
  const list = parameters.list.filter(({ updatable }) => updatable).map(({ default: _, ...rest }) => rest)
  // The instance knows the parameters that the update does not name, so only values that contradict are refused.
  const named = new Set(list.map(({ name }) => name))
  const contradictions = list.flatMap(({ name, dependsOn }) =>
    dependsOn?.values !== undefined && named.has(dependsOn.key)
      ? [[name, { properties: { [dependsOn.key]: { enum: dependsOn.values } } }] as const]
      : [],
  )
  return toObjectSchema(list, new Map(contradictions))
}

function toObjectSchema(list: readonly BundleParameter[], demands: ReadonlyMap<string, JsonObject>): JsonObject {
  const required = list.filter(parameter => parameter.required && parameter.dependsOn === undefined)
  return {
    $schema: draftUri['draft-04'],
    type: 'object',
    additionalProperties: false,
    ...(list.length === 0 ? {} : { properties: Object.fromEntries(list.map(item => [item.name, toProperty(item)])) }),
    ...(required.length === 0 ? {} : { required: required.map(({ name }) => name) }),
    ...(demands.size === 0 ? {} : { dependencies: Object.fromEntries(demands) }),
  }
}

/**
 * The conditions between parameters as `dependencies` of a draft-04 schema, by the parameter that they begin with: one
 * that depends on another is refused without it, and demanded with it where it is required. They are `dependencies` and
 * nothing else because these are judged after the defaults have been filled in.
 */
function toDemands(list: readonly BundleParameter[]): ReadonlyMap<string, JsonObject> {
  if (list.every(({ dependsOn }) => dependsOn === undefined)) return new Map()
  const byName = new Map(list.map(parameter => [parameter.name, parameter]))
  const demands = new Map<string, JsonObject[]>()
  const demand = (name: string, schema: JsonObject) => demands.set(name, [...(demands.get(name) ?? []), schema])
  for (const parameter of list) {
    const other = parameter.dependsOn && byName.get(parameter.dependsOn.key)
    if (other === undefined) continue
    const values = parameter.dependsOn?.values
    demand(parameter.name, {
      ...(values === undefined ? {} : { properties: { [other.name]: { enum: values } } }),
      required: [other.name],
    })
    const counterpart = toCounterpart(parameter, other, values)
    if (counterpart !== undefined) demand(other.name, counterpart)
  }
  return new Map(
    [...demands].map(([name, schemas]) => {
      const [only, ...more] = schemas
      return [name, more.length === 0 && only !== undefined ? only : { allOf: schemas }]
    }),
  )
}

/** What the other parameter brings with it: the demand for this one, and its default. */
function toCounterpart(
  { name, required: isRequired, default: fallback }: BundleParameter,
  other: BundleParameter,
  values: readonly Scalar[] | undefined,
): JsonObject | undefined {
  // A default under a condition on a value is not filled in, and meets the demand all the same.
  const required = isRequired && (values === undefined || fallback === undefined)
  if (!required && (values !== undefined || fallback === undefined)) return undefined
  const counterpart = {
    ...(fallback === undefined ? {} : { properties: { [name]: { default: fallback } } }),
    ...(required ? { required: [name] } : {}),
  }
  const rest = values === undefined ? [] : restOf(other, values)
  if (rest?.length === 0) return counterpart
  const otherwise = rest === undefined ? { not: { enum: values } } : { enum: rest }
  return { anyOf: [{ properties: { [other.name]: otherwise } }, counterpart] }
}

/** The values that a parameter has beside these; undefined where they cannot be listed. */
function restOf({ type, enum: all }: BundleParameter, values: readonly Scalar[]): readonly Scalar[] | undefined {
  const list = all ?? (type === 'boolean' ? [true, false] : undefined)
  return list?.filter(value => !values.includes(value))
}

/** A default that holds only under a condition is filled in there, or not at all. */
function toProperty({ dependsOn, minimum, maximum, ...parameter }: BundleParameter): JsonObject {
  // Draft-04 has one number for a side and a flag that excludes it: of two bounds the narrower one counts.
  const { exclusiveMinimum: above, exclusiveMaximum: below } = parameter
  const excludesMinimum = above !== undefined && above >= (minimum ?? above)
  const excludesMaximum = below !== undefined && below <= (maximum ?? below)
  const rules = withoutUndefined({
    minLength: parameter.minLength,
    maxLength: parameter.maxLength,
    pattern: parameter.pattern,
    multipleOf: parameter.multipleOf,
    minimum: excludesMinimum ? above : minimum,
    exclusiveMinimum: excludesMinimum || undefined,
    maximum: excludesMaximum ? below : maximum,
    exclusiveMaximum: excludesMaximum || undefined,
  })
  return withoutUndefined({
    type: parameter.type,
    title: parameter.title,
    description: parameter.description,
    default: dependsOn === undefined ? parameter.default : undefined,
    enum: parameter.enum,
    ...(parameter.exempt === undefined ? rules : { anyOf: [{ enum: [parameter.exempt] }, rules] }),
  })
}

/** Of a schema of the author's own: the top-level properties that it marks with `updatable: true`. */
function updatableOf(schema: JsonObject): JsonObject {
  const properties = isJsonObject(schema.properties) ? Object.entries(schema.properties) : []
  const updatable = properties.filter(([, property]) => isJsonObject(property) && property.updatable === true)
  const names = new Set(updatable.map(([name]) => name))
  const required = Array.isArray(schema.required) ? schema.required.filter((name: Json) => names.has(String(name))) : []
  const { $schema, definitions, $defs } = schema
  const update = withoutUndefined({
    $schema,
    type: 'object',
    additionalProperties: false,
    ...(updatable.length === 0 ? {} : { properties: Object.fromEntries(updatable), definitions, $defs }),
    ...(required.length === 0 ? {} : { required }),
  })
  return stripped(update, ['sensitive', 'updatable', 'default'])
}

/** Words of ours that mean nothing to a platform, and what an update must not fill in. */
function stripped(schema: JsonObject, words: readonly string[]): JsonObject {
  const rest = mapSubschemas(schema, subschema => stripped(subschema, words))
  return Object.fromEntries(Object.entries(rest).filter(([word]) => !words.includes(word)))
}
