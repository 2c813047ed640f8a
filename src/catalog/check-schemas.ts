import { isJsonObject, type JsonObject } from '../protocol/json.ts'
import { jsonObject, type Path, type Report, wrongType } from './check-fields.ts'
import { compileSchema } from './compile-schema.ts'
import { draftOf, draftUri } from './json-schema-draft.ts'
import { visitSchemas } from './json-schema-walk.ts'

/** The OSB API's limit for one schema (SCH-05). */
const maxBytes = 64 * 1024

/** The places where a plan can describe parameters. */
const places = [
  ['serviceInstance', 'create'],
  ['serviceInstance', 'update'],
  ['serviceBinding', 'create'],
] as const

/** Checks every schema of a plan (`value` is its `schemas`), asynchronously because the compiler is loaded on demand. */
export async function checkSchemas(value: unknown, path: Path, report: Report, warn: Report): Promise<void> {
  const at = [...path, 'schemas']
  if (!isObject(value, '"schemas"', at, report)) return
  for (const resource of ['serviceInstance', 'serviceBinding']) {
    const methods = value[resource]
    if (methods !== undefined) isObject(methods, `"${resource}"`, [...at, resource], report)
  }
  for (const [resource, method] of places) {
    const methods = value[resource]
    const call = isJsonObject(methods) ? methods[method] : undefined
    const callPath = [...at, resource, method]
    const name = `"schemas.${resource}.${method}"`
    if (call === undefined || !isObject(call, name, callPath, report) || call.parameters === undefined) continue
    await checkSchema(call.parameters, `the schema in ${name}`, [...callPath, 'parameters'], report, warn)
  }
}

async function checkSchema(value: unknown, name: string, path: Path, report: Report, warn: Report): Promise<void> {
  let sound = true
  jsonObject(value, name, path, (...problem) => {
    sound = false
    report(...problem)
  })
  if (!sound || !isJsonObject(value)) return
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
      `${name} is no valid JSON Schema: ${reason}`,
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

function isObject(
  value: unknown,
  name: string,
  path: Path,
  report: Report,
): value is Readonly<Record<string, unknown>> {
  if (isJsonObject(value)) return true
  wrongType(value, name, path, report, 'an object', 'write it as keys and values')
  return false
}

function findRemoteReference(schema: JsonObject): string | undefined {
  let remote: string | undefined
  visitSchemas(schema, ({ $ref }) => {
    if (typeof $ref === 'string' && !$ref.startsWith('#')) remote ??= $ref
  })
  return remote
}
