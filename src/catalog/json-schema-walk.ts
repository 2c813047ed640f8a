import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'

/** Where a JSON Schema of any draft holds further schemas; `items` and `dependencies` have two forms. */
const single = ['additionalProperties', 'additionalItems', 'items', 'contains', 'not', 'if', 'then', 'else'] as const
const newerSingle = ['propertyNames', 'unevaluatedItems', 'unevaluatedProperties', 'contentSchema'] as const
const lists = ['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items'] as const
const maps = ['properties', 'patternProperties', 'definitions', '$defs', 'dependentSchemas', 'dependencies'] as const

const singleKeywords: ReadonlySet<string> = new Set([...single, ...newerSingle])
const listKeywords: ReadonlySet<string> = new Set(lists)
const mapKeywords: ReadonlySet<string> = new Set(maps)

/** Rewrites the schemas directly below one. What is not a schema (such as a property called `default`) stays. */
export function mapSubschemas(schema: JsonObject, rewrite: (subschema: JsonObject) => JsonObject): JsonObject {
  const rewriteAny = (value: Json | undefined) => (isJsonObject(value) ? rewrite(value) : value)
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]): [string, Json | undefined] => {
      if (Array.isArray(value))
        return [
          keyword,
          listKeywords.has(keyword) ? value.map(item => (isJsonObject(item) ? rewrite(item) : item)) : value,
        ]
      if (!isJsonObject(value)) return [keyword, value]
      if (singleKeywords.has(keyword)) return [keyword, rewrite(value)]
      if (!mapKeywords.has(keyword)) return [keyword, value]
      return [keyword, Object.fromEntries(Object.entries(value).map(([name, item]) => [name, rewriteAny(item)]))]
    }),
  )
}

/** Calls back for the schema and every schema object below it. */
export function visitSchemas(schema: JsonObject, visit: (schema: JsonObject) => void): void {
  visit(schema)
  mapSubschemas(schema, subschema => {
    visitSchemas(subschema, visit)
    return subschema
  })
}

/** The keywords that hold `true` or `false` where a schema is expected: schemas too, since draft-06. */
export function booleanSubschemas(schema: JsonObject): string[] {
  const found: string[] = []
  for (const [keyword, value] of Object.entries(schema)) {
    if (typeof value === 'boolean' && singleKeywords.has(keyword)) found.push(keyword)
    else if (Array.isArray(value) && listKeywords.has(keyword) && value.some(isBoolean)) found.push(keyword)
    else if (isJsonObject(value) && mapKeywords.has(keyword) && Object.values(value).some(isBoolean))
      found.push(keyword)
  }
  return found
}

function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean'
}
