import { visitSchemas } from '../catalog/json-schema-walk.ts'
import { isJsonObject, type JsonObject } from '../protocol/json.ts'
import type { BundleParameters } from './spec.ts'

/** The names of the parameters whose values are secrets, whole or in part. */
export function sensitiveNames(parameters: BundleParameters): readonly string[] {
  if (parameters.kind === 'list') return parameters.list.filter(({ sensitive }) => sensitive).map(({ name }) => name)
  const { properties } = parameters.schema
  if (!isJsonObject(properties)) return []
  return Object.entries(properties).flatMap(([name, schema]) =>
    isJsonObject(schema) && holdsSecret(schema) ? [name] : [],
  )
}

function holdsSecret(schema: JsonObject): boolean {
  let secret = false
  visitSchemas(schema, part => {
    secret ||= part.sensitive === true || part.writeOnly === true || part.format === 'password'
  })
  return secret
}
