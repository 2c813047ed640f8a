import { isJsonObject, type Json, type JsonObject, withoutUndefined } from '../protocol/json.ts'
import { withDraft } from './json-schema-draft.ts'
import { mapSubschemas } from './json-schema-walk.ts'
import { canCompile } from './pattern.ts'

/**
 * The part of the Standard Schema contract (version 1) that we use, so that any validation library that keeps it can
 * describe parameters. `jsonSchema` is its optional extension for libraries that can write their schema as JSON Schema.
 */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
    readonly jsonSchema?: { readonly input: (options: { readonly target: string }) => Record<string, unknown> }
  }
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

export interface StandardIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** What a schema takes, and what it makes of it. */
export type StandardTypes<S extends StandardSchemaV1> = NonNullable<S['~standard']['types']>

/** Some libraries make their schemas callable, so a function counts too. */
export function isStandardSchema(value: unknown): value is StandardSchemaV1 {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  const standard: unknown = Reflect.get(value, '~standard')
  return typeof standard === 'object' && standard !== null && typeof Reflect.get(standard, 'validate') === 'function'
}

/** Cloud Foundry accepts draft-04 only, so that is asked for first. */
const targets = ['draft-04', 'draft-07', 'draft-2020-12'] as const

/**
 * The JSON Schema that the catalog shows for a library's schema: of its input, closed at the top level, because a
 * misspelled parameter that is silently dropped helps nobody.
 */
export function toAdvertisedSchema(source: StandardSchemaV1): JsonObject {
  return withDraft(closed(withoutForeign(generate(source))))
}

function generate(source: StandardSchemaV1): JsonObject {
  const { vendor, jsonSchema } = source['~standard']
  if (jsonSchema === undefined)
    throw new Error(
      `this version of ${vendor} cannot write its schemas as JSON Schema ("~standard.jsonSchema" is missing): ` +
        'give "parameters" as a JSON Schema object, or use a version that can',
    )
  let failure: unknown
  for (const target of targets) {
    try {
      // A copy: libraries hang objects of their own on what they return.
      const schema: unknown = JSON.parse(JSON.stringify(jsonSchema.input({ target })))
      if (isJsonObject(schema)) return schema
    } catch (error) {
      failure ??= error
    }
  }
  const reason = failure instanceof Error ? failure.message : 'no target is supported'
  throw new Error(
    `this ${vendor} schema cannot be written as JSON Schema (${reason}): ` +
      'describe parameters by what JSON can hold, or give "parameters" as a JSON Schema object',
    { cause: failure },
  )
}

const openers = ['additionalProperties', 'patternProperties', 'allOf', 'anyOf', 'oneOf', '$ref'] as const

function closed(schema: JsonObject): JsonObject {
  if (schema.type !== 'object' || openers.some(keyword => schema[keyword] !== undefined)) return schema
  return { ...schema, additionalProperties: false }
}

/**
 * Without what only the library can judge, and does. A default behind a transformation is of the output's type: it is not for
 * the input. A pattern with a look-around, as some have for e-mail addresses, is unknown to most platforms too.
 */
function withoutForeign(schema: JsonObject): JsonObject {
  const { default: fallback, pattern, ...rest } = mapSubschemas(schema, withoutForeign)
  return withoutUndefined({
    ...rest,
    pattern: typeof pattern === 'string' && !canCompile(pattern) ? undefined : pattern,
    default: fallback !== undefined && fits(fallback, schema.type) ? fallback : undefined,
  })
}

function fits(value: Json, type: Json | undefined): boolean {
  if (type === undefined) return true
  return [type].flat().some(name => name === jsonType(value) || (name === 'integer' && Number.isInteger(value)))
}

function jsonType(value: Json): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
