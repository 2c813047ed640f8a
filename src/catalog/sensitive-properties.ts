import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'
import { lookUp, visitSchemas } from './json-schema-walk.ts'

/** `sensitive` is the word of bundles, `x-sensitive` that of other tools. */
const marks = ['writeOnly', 'x-sensitive', 'sensitive'] as const

/** What speaks of the object itself, besides `properties`. */
const ofItself = ['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', '$ref'] as const

/** The names of the properties whose values are secrets, whole or in part, as their JSON Schema marks them. */
export function sensitiveProperties(root: JsonObject): readonly string[] {
  const names = new Set<string>()
  const seen = new Set<JsonObject>()
  const look = (schema: Json | undefined): void => {
    if (Array.isArray(schema)) for (const each of schema) look(each)
    if (!isJsonObject(schema) || seen.has(schema)) return
    seen.add(schema)
    if (isJsonObject(schema.properties))
      for (const [name, property] of Object.entries(schema.properties))
        if (isJsonObject(property) && holdsSecret(root, property, new Set())) names.add(name)
    for (const word of ofItself) look(word === '$ref' ? lookUp(root, schema[word]) : schema[word])
  }
  look(root)
  return [...names]
}

function holdsSecret(root: JsonObject, schema: JsonObject, seen: Set<JsonObject>): boolean {
  let secret = false
  visitSchemas(schema, part => {
    if (secret || seen.has(part)) return
    seen.add(part)
    const referred = lookUp(root, part.$ref)
    secret =
      marks.some(mark => part[mark] === true) ||
      part.format === 'password' ||
      (referred !== undefined && holdsSecret(root, referred, seen))
  })
  return secret
}
