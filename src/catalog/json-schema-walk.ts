import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'

/** Where a JSON Schema of any draft holds further schemas; `items` and `dependencies` have two forms. */
const single = ['additionalProperties', 'additionalItems', 'items', 'contains', 'not', 'if', 'then', 'else'] as const
const newerSingle = ['propertyNames', 'unevaluatedItems', 'unevaluatedProperties', 'contentSchema'] as const
const lists = ['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items'] as const
const maps = ['properties', 'patternProperties', 'definitions', '$defs', 'dependentSchemas', 'dependencies'] as const

const singleKeywords: ReadonlySet<string> = new Set([...single, ...newerSingle])
const listKeywords: ReadonlySet<string> = new Set(lists)
const mapKeywords: ReadonlySet<string> = new Set(maps)

/** Rewrites what stands where a schema is expected. All else (such as a property called `default`) stays. */
function mapPlaces(schema: JsonObject, rewrite: (value: Json | undefined, keyword: string) => Json | undefined) {
  const mapValue = (keyword: string, value: Json | undefined): Json | undefined => {
    if (Array.isArray(value))
      return listKeywords.has(keyword) ? value.map(item => rewrite(item, keyword) ?? null) : value
    if (isJsonObject(value) && mapKeywords.has(keyword))
      return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, rewrite(item, keyword)]))
    return singleKeywords.has(keyword) ? rewrite(value, keyword) : value
  }
  return Object.fromEntries(Object.entries(schema).map(([keyword, value]) => [keyword, mapValue(keyword, value)]))
}

/** Whether schemas are expected below a keyword. */
export function holdsSchemas(keyword: string): boolean {
  return singleKeywords.has(keyword) || listKeywords.has(keyword) || mapKeywords.has(keyword)
}

/** Rewrites the schemas directly below one. */
export function mapSubschemas(schema: JsonObject, rewrite: (subschema: JsonObject) => JsonObject): JsonObject {
  return mapPlaces(schema, value => (isJsonObject(value) ? rewrite(value) : value))
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
  mapPlaces(schema, (value, keyword) => {
    if (typeof value === 'boolean') found.push(keyword)
    return value
  })
  return found
}

/** What a reference within the schema means. */
export function lookUp(root: JsonObject, reference: Json | undefined): JsonObject | undefined {
  if (typeof reference !== 'string' || !/^#(\/[\w$.~-]+)+$/.test(reference)) return undefined
  let at: Json | undefined = root
  for (const part of reference.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    at = isJsonObject(at) && Object.hasOwn(at, name) ? at[name] : undefined
  }
  return isJsonObject(at) ? at : undefined
}
