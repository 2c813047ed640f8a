import { isJsonObject, type JsonObject } from '../protocol/json.ts'
import { isJson } from '../shape/check-json.ts'
import { isObject, type Path } from '../shape/place.ts'
import { compileSchema } from './compile-schema.ts'
import { draftOf, draftUri } from './json-schema-draft.ts'
import { visitSchemas } from './json-schema-walk.ts'
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
export async function checkSchemas(plan: unknown, path: Path, report: Report, warn: Report): Promise<void> {
  for (const [resource, method] of places) {
    const at = [...path, 'schemas', resource, method, 'parameters']
    const schema = at.slice(path.length).reduce((value, key) => (isObject(value) ? value[key] : undefined), plan)
    // What is not JSON has been reported already.
    if (isJsonObject(schema) && isJson(schema))
      await checkSchema(schema, `the schema in "schemas.${resource}.${method}"`, at, report, warn)
  }
}

async function checkSchema(value: JsonObject, name: string, path: Path, report: Report, warn: Report): Promise<void> {
  const size = Buffer.byteLength(JSON.stringify(value))
  if (size > maxBytes) {
    report(path, `${name} has ${size} bytes`, `the OSB API allows ${maxBytes}: shorten or split it`)
    return
  }
  const remote = findRemoteReference(value)
  if (remote !== undefined) {
    report(path, `${name} refers to "${remote}"`, 'put what it refers to into the schema: a $ref must begin with #')
    return
  }
  try {
    await compileSchema(value)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    report(
      path,
      `${name} is not a valid JSON Schema: ${reason}`,
      'correct it, or name the draft it is written in with "$schema"',
    )
    return
  }
  if (draftOf(value) !== 'draft-04')
    warn(
      path,
      `${name} is not draft-04`,
      `Cloud Foundry refuses others: if it is a platform of yours, use ${draftUri['draft-04']}`,
    )
  if (value.type !== undefined && ![value.type].flat().includes('object'))
    warn(path, `${name} accepts no object`, 'parameters are always an object: describe one, with "type": "object"')
}

function findRemoteReference(schema: JsonObject): string | undefined {
  let remote: string | undefined
  visitSchemas(schema, ({ $ref }) => {
    if (typeof $ref === 'string' && !$ref.startsWith('#')) remote ??= $ref
  })
  return remote
}
