import { draftOf, drafts } from '../catalog/json-schema-draft.ts'
import { visitSchemas } from '../catalog/json-schema-walk.ts'
import { isJsonObject, type Json } from '../protocol/json.ts'
import { quoted } from '../shape/place.ts'
import { readCondition } from './read-condition.ts'
import { type ReadParameter, readParameter } from './read-parameter.ts'
import { isInherited, type Reading } from './reading.ts'
import type { Item } from './source.ts'
import type { BundleParameters } from './spec.ts'
import { toCreateSchema } from './to-schema.ts'

/** The OSB API's limit for one schema (SCH-05). */
const maxSchemaBytes = 64 * 1024

/** A list of parameters, or JSON Schema; without either there are none. */
export function readParameters(item: Item | undefined, what: string, reading: Reading): BundleParameters {
  if (item === undefined) return { kind: 'list', list: [] }
  const parameters = isJsonObject(item.value) ? readSchema(item, reading) : readList(item, what, reading)
  const size = Buffer.byteLength(JSON.stringify(toCreateSchema(parameters)))
  if (size > maxSchemaBytes)
    reading.error(
      item,
      `as JSON Schema ${what} have ${size} bytes, and the OSB API allows ${maxSchemaBytes}; shorten texts and defaults`,
    )
  return parameters
}

function readList(item: Item, what: string, reading: Reading): BundleParameters {
  const entries: ReadParameter[] = []
  const names = new Map<string, ReadParameter>()
  for (const entry of reading.list(item, `${what} that are not a JSON Schema`)) {
    const read = readParameter(entry, reading)
    if (read === undefined) continue
    const { name } = read.parameter
    if (names.has(name))
      reading.error(entry, `there is a second parameter ${quoted(name)}; give each one a name of its own`)
    else {
      names.set(name, read)
      entries.push(read)
    }
  }
  // A parameter that is broken itself may be the one that others depend on: then nothing can be said of them.
  const complete = Array.isArray(item.value) && entries.length === item.value.length
  const find = (name: string) => names.get(name)?.parameter
  const list = entries.map(({ parameter, dependencies }) => {
    const dependsOn = dependencies && complete ? readCondition(dependencies, parameter, find, reading) : undefined
    return dependsOn === undefined ? parameter : { ...parameter, dependsOn }
  })
  return { kind: 'list', list }
}

const schemaWords = ['type', 'properties', '$schema', '$ref', 'allOf', 'anyOf', 'oneOf', 'additionalProperties']

function readSchema(item: Item, reading: Reading): BundleParameters {
  const schema = isJsonObject(item.value) ? item.value : {}
  if (!schemaWords.some(word => Object.hasOwn(schema, word)))
    reading.error(item, 'it is neither a list of parameters nor JSON Schema; begin each one with "- name:"')
  else if (schema.type !== undefined && ![schema.type].flat().includes('object'))
    reading.error(item, 'the schema takes no object, and parameters always are one; write "type: object"')
  if (draftOf(schema) === undefined)
    reading.error(item, `its "$schema" names none of the known drafts; use one of ${drafts.join(', ')}`)
  visitSchemas(schema, ({ $ref, properties }) => {
    for (const name of isJsonObject(properties) ? Object.keys(properties).filter(isInherited) : [])
      reading.error(item, `a parameter cannot be called ${quoted(name)}; rename it`)
    if (isRemote($ref))
      reading.error(item, `it refers to ${quoted(String($ref))}; put that into the schema: a $ref begins with #`)
  })
  return { kind: 'schema', schema }
}

function isRemote(reference: Json | undefined): boolean {
  return typeof reference === 'string' && !reference.startsWith('#')
}
