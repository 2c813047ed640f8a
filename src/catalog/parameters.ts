import { deepestJson, type Json, type JsonObject } from '../protocol/json.ts'
import { checkSchema, compileSchema } from './compile-schema.ts'
import { withDraft } from './json-schema-draft.ts'
import type { FromJsonSchema } from './json-schema-type.ts'
import { mapSubschemas } from './json-schema-walk.ts'
import { describeErrors, describeIssues } from './parameter-problems.ts'
import { isStandardSchema, type StandardSchemaV1, type StandardTypes, toAdvertisedSchema } from './standard-schema.ts'

/** What an author describes parameters with: a schema of a validation library, or plain JSON Schema. */
export type ParameterSource = StandardSchemaV1 | JsonObject

/** The type of `ctx.parameters` that follows from the author's schema. */
export type InferParameters<S> = S extends StandardSchemaV1
  ? StandardTypes<S>['output']
  : unknown extends FromJsonSchema<S>
    ? JsonObject
    : FromJsonSchema<S>

/** What such a schema takes: for one of a validation library, before its defaults and conversions. */
export type InferInput<S> = S extends StandardSchemaV1 ? StandardTypes<S>['input'] : InferParameters<S>

export type Checked =
  | { readonly ok: true; readonly value: JsonObject }
  | { readonly ok: false; readonly problems: readonly string[] }

export interface ParameterSchema<Output = JsonObject> {
  /** What the catalog shows: JSON Schema with its `$schema`, draft-04 wherever possible. */
  readonly jsonSchema: JsonObject
  /** Checks what a user sent. The value is the JSON form with defaults filled in: what is stored and shown. */
  check(input: JsonObject): Promise<Checked>
  /** What the author's code gets, made from what is stored. Throws where the schema no longer accepts it. */
  parse(stored: JsonObject): Promise<Output>
}

export function createParameterSchema<const S extends ParameterSource>(source: S): ParameterSchema<InferParameters<S>>
export function createParameterSchema(source: ParameterSource): ParameterSchema<unknown> {
  return isStandardSchema(source) ? fromStandardSchema(source) : fromJsonSchema(source)
}

/** What a schema makes of a value, defaults included. `root` names the value in the problems. */
export async function checkValue(source: ParameterSource, value: JsonObject, root: string): Promise<Checked> {
  if (!isStandardSchema(source)) return checkJson(withDraft(source), value, root)
  const result = await source['~standard'].validate(value)
  return result.issues === undefined
    ? { ok: true, value: result.value as JsonObject }
    : { ok: false, problems: describeIssues(result.issues, root) }
}

/** Rejects with the reason where it is plain JSON Schema and not a valid one. */
export async function checkSource(source: ParameterSource): Promise<void> {
  if (!isStandardSchema(source)) await checkSchema(withDraft(source))
}

/**
 * For updates of a service whose author described only its creation: any of the same fields, none demanded and none
 * filled in, since what an update leaves out stays as it is. Only the create schema can judge the merged whole.
 */
export function toUpdateSchema(schema: ParameterSchema<unknown>): ParameterSchema {
  const { required: _, ...rest } = withoutDefaults(schema.jsonSchema)
  return fromJsonSchema(rest)
}

function fromJsonSchema(source: JsonObject): ParameterSchema {
  const jsonSchema = withDraft(source)
  return { jsonSchema, check: input => checkJson(jsonSchema, input), parse: async stored => stored }
}

function fromStandardSchema(source: StandardSchemaV1): ParameterSchema<unknown> {
  const jsonSchema = toAdvertisedSchema(source)
  const { validate } = source['~standard']
  return {
    jsonSchema,
    async check(input) {
      const checked = await checkJson(jsonSchema, input)
      if (!checked.ok) return checked
      const { issues } = await validate(checked.value)
      return issues === undefined ? checked : { ok: false, problems: describeIssues(issues) }
    },
    async parse(stored) {
      const result = await validate(stored)
      if (result.issues === undefined) return result.value
      throw new Error(`stored parameters no longer fit their schema: ${describeIssues(result.issues).join('; ')}`)
    },
  }
}

async function checkJson(jsonSchema: JsonObject, input: JsonObject, root?: string): Promise<Checked> {
  const validate = await compileSchema(jsonSchema)
  // What an author's own code has made (a state) has no limit of this kind.
  const unfit = findUnfit(input, { left: root === undefined ? mostParameterValues : Infinity })
  if (unfit !== undefined) return { ok: false, problems: [unfit] }
  const value = structuredClone(input)
  const errors = validate(value)
  return errors.length === 0 ? { ok: true, value } : { ok: false, problems: describeErrors(errors, root) }
}

/** More than anybody writes, and few enough for a validation library that lists every mistake it finds. */
const mostParameterValues = 50_000

/**
 * Refuses what is valid JSON and yet a trap for the code behind: bottomless nesting, endless lists, and keys that set a
 * prototype.
 */
function findUnfit(value: Json | undefined, budget: { left: number }, depth = 0): string | undefined {
  budget.left -= 1
  if (budget.left < 0) return `parameters: must not hold more than ${mostParameterValues} values`
  if (typeof value !== 'object' || value === null) return undefined
  if (depth > deepestJson) return `parameters: must not be nested more than ${deepestJson} levels deep`
  if (Object.hasOwn(value, '__proto__')) return 'parameters: must not have a field named __proto__'
  for (const item of Object.values(value)) {
    const unfit = findUnfit(item, budget, depth + 1)
    if (unfit !== undefined) return unfit
  }
  return undefined
}

function withoutDefaults(schema: JsonObject): JsonObject {
  const { default: _, ...rest } = mapSubschemas(schema, withoutDefaults)
  return rest
}

/** Of these values, those that the schema requires. */
export function demandedOf(schema: JsonObject | undefined, values: JsonObject): JsonObject {
  const required = Array.isArray(schema?.required) ? schema.required : []
  return Object.fromEntries(Object.entries(values).filter(([key]) => required.includes(key)))
}
