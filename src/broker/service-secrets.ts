import { sensitiveProperties } from '../catalog/sensitive-properties.ts'
import type { Binding } from '../domain/binding.ts'
import type { JsonObject } from '../protocol/json.ts'
import { secretsIn } from '../sensitive/secrets-in.ts'
import type { ServiceSchemas } from './service-schemas.ts'

/** The names of parameters that some schema of a service marks as secret: an instance may have moved from one plan to another. */
export interface SensitiveNames {
  readonly parameters: ReadonlySet<string>
  readonly bindParameters: ReadonlySet<string>
}

export function sensitiveNamesOf(schemas: readonly ServiceSchemas[]): SensitiveNames {
  const namesIn = (given: readonly ({ readonly jsonSchema: JsonObject } | undefined)[]) =>
    new Set(given.flatMap(schema => (schema === undefined ? [] : sensitiveProperties(schema.jsonSchema))))
  return {
    parameters: namesIn(schemas.flatMap(({ create, update }) => [create, update])),
    bindParameters: namesIn(schemas.map(({ bind }) => bind)),
  }
}

/** What a platform may read back: a marked parameter is shown to nobody, not even to the user who set it. */
export function withoutMarked(parameters: JsonObject, names: ReadonlySet<string>): JsonObject {
  if (names.size === 0) return parameters
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => !names.has(name)))
}

/** Whose secrets are meant. */
export interface Subject {
  readonly parameters: readonly (JsonObject | undefined)[]
  readonly binding?: Binding | undefined
}

/** Every text that is secret by its schema, or by what it is: marked parameters and credentials. */
export function secretsOf(names: SensitiveNames, { parameters, binding }: Subject): readonly string[] {
  const marked = parameters.map(given => given && pick(given, names.parameters))
  return secretsIn([...marked, binding && pick(binding.parameters, names.bindParameters), binding?.result.credentials])
}

function pick(parameters: JsonObject, names: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => names.has(name)))
}
