import { isJsonObject, type JsonObject } from '../protocol/json.ts'
import { isJson } from '../shape/check-json.ts'
import { type Path, quoted, valueAt } from '../shape/place.ts'
import { messageOf } from '../shape/thrown.ts'
import { checkSchema } from './compile-schema.ts'
import { draftOf, draftUri } from './json-schema-draft.ts'
import { visitSchemas } from './json-schema-walk.ts'
import { findGoSyntax } from './judge-pattern.ts'
import type { Report } from './problem.ts'

/** The OSB API's limit for one schema (SCH-05). */
const maxBytes = 64 * 1024

/** The places where a plan can describe parameters. */
const places = [
  ['serviceInstance', 'create'],
  ['serviceInstance', 'update'],
  ['serviceBinding', 'create'],
] as const

/** Checks every schema of a plan, asynchronously because the compiler is loaded on demand. */
export async function checkSchemas(plan: unknown, path: Path, report: Report): Promise<void> {
  for (const [resource, method] of places) {
    const below = ['schemas', resource, method, 'parameters']
    const schema = valueAt(plan, below)
    // What is not JSON has been reported already.
    if (!isJsonObject(schema) || !isJson(schema)) continue
    await checkAdvertised(schema, (what, remedy, severity) => {
      const problem = `the schema in "schemas.${resource}.${method}" ${what}`
      report({ severity, path: [...path, ...below], problem, remedy })
    })
  }
}

type Tell = (what: string, remedy: string, severity?: 'warning') => void

/** What is wrong with one schema that platforms are shown. */
export async function checkAdvertised(schema: JsonObject, tell: Tell): Promise<void> {
  const size = Buffer.byteLength(JSON.stringify(schema))
  if (size > maxBytes) return tell(`has ${size} bytes`, `the OSB API allows ${maxBytes}: shorten or split it`)
  const remote = findRemoteReference(schema)
  if (remote !== undefined)
    return tell(`refers to "${remote}"`, 'put what it refers to into the schema: a $ref must begin with #')
  try {
    await checkSchema(schema)
  } catch (error) {
    const remedy = 'correct it, or name the draft it is written in with "$schema"'
    return tell(`is not a valid JSON Schema: ${messageOf(error)}`, remedy)
  }
  visitSchemas(schema, ({ pattern, patternProperties }) => {
    for (const text of [pattern ?? [], Object.keys(patternProperties ?? {})].flat()) {
      const found = findGoSyntax(String(text))
      const remedy = 'platforms may not know it, since JSON Schema has no such thing: write it as JavaScript does'
      if (found !== undefined) tell(`has ${found} in the pattern ${quoted(String(text))}`, remedy, 'warning')
    }
  })
  if (draftOf(schema) !== 'draft-04') {
    const remedy = `Cloud Foundry refuses others: if it is a platform of yours, use ${draftUri['draft-04']}`
    tell('is not draft-04', remedy, 'warning')
  }
  if (schema.type !== undefined && ![schema.type].flat().includes('object')) {
    const remedy = 'parameters are always an object: describe one, with "type": "object"'
    tell('accepts no object', remedy, 'warning')
  }
}

function findRemoteReference(schema: JsonObject): string | undefined {
  let remote: string | undefined
  visitSchemas(schema, ({ $ref }) => {
    if (typeof $ref === 'string' && !$ref.startsWith('#')) remote ??= $ref
  })
  return remote
}
