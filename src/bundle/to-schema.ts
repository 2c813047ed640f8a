import { draftUri } from '../catalog/json-schema-draft.ts'
import { mapSubschemas } from '../catalog/json-schema-walk.ts'
import { isJsonObject, type Json, type JsonObject, withoutUndefined } from '../protocol/json.ts'
import { toDemands } from './conditions.ts'
import type { BundleParameter, BundleParameters } from './spec.ts'

/** What a provision or a bind may be given. Draft-04, the one that every platform reads. */
export function toCreateSchema(parameters: BundleParameters): JsonObject {
  if (parameters.kind === 'schema') return stripped(parameters.schema, ['sensitive', 'updatable'])
  const { list } = parameters
  return toObjectSchema(
    list,
    list.filter(({ required, dependsOn }) => required && dependsOn === undefined),
    toDemands(list),
  )
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
  return toObjectSchema(
    list,
    list.filter(({ required, dependsOn }) => required && dependsOn === undefined),
    new Map(contradictions),
  )
}

function toObjectSchema(
  list: readonly BundleParameter[],
  required: readonly BundleParameter[],
  demands: ReadonlyMap<string, JsonObject>,
): JsonObject {
  return {
    $schema: draftUri['draft-04'],
    type: 'object',
    additionalProperties: false,
    ...(list.length === 0 ? {} : { properties: Object.fromEntries(list.map(item => [item.name, toProperty(item)])) }),
    ...(required.length === 0 ? {} : { required: required.map(({ name }) => name) }),
    ...(demands.size === 0 ? {} : { dependencies: Object.fromEntries(demands) }),
  }
}

/** A default that holds only under a condition is filled in there, or not at all. */
function toProperty({ dependsOn, ...parameter }: BundleParameter): JsonObject {
  return withoutUndefined({
    type: parameter.type,
    title: parameter.title,
    description: parameter.description,
    default: dependsOn === undefined ? parameter.default : undefined,
    enum: parameter.enum,
    minLength: parameter.minLength,
    maxLength: parameter.maxLength,
    pattern: parameter.pattern,
    multipleOf: parameter.multipleOf,
    ...toBound('minimum', parameter.minimum, parameter.exclusiveMinimum, Math.max),
    ...toBound('maximum', parameter.maximum, parameter.exclusiveMaximum, Math.min),
  })
}

/** Draft-04 has one number for a side and a flag that excludes it: of two bounds the narrower one counts. */
function toBound(
  side: 'minimum' | 'maximum',
  inclusive: number | undefined,
  exclusive: number | undefined,
  narrower: (a: number, b: number) => number,
): JsonObject {
  if (exclusive === undefined) return { [side]: inclusive }
  if (inclusive !== undefined && inclusive !== exclusive && narrower(inclusive, exclusive) === inclusive)
    return { [side]: inclusive }
  return { [side]: exclusive, [side === 'minimum' ? 'exclusiveMinimum' : 'exclusiveMaximum']: true }
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
