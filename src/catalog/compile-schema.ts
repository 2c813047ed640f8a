import type { Ajv, ErrorObject } from 'ajv'
import { isJsonObject, type JsonObject } from '../protocol/json.ts'
import { type Draft, draftOf, drafts } from './json-schema-draft.ts'
import { holdsSchemas, mapSubschemas } from './json-schema-walk.ts'
import { isPattern, isPlainSchema, toRegExp } from './plain-schema.ts'

/** Fills the schema's defaults into `data`, and says what is wrong with it. */
export type Validate = (data: JsonObject) => readonly ErrorObject[]

type Compiler = Pick<Ajv, 'compile' | 'removeSchema'>

const compiled = new WeakMap<JsonObject, Promise<Validate>>()
const compilers = new Map<Draft, Promise<Compiler>>()

/** Rejects with the reason where it is not a schema. A plain one is compiled with the first parameters that it judges. */
export async function checkSchema(schema: JsonObject): Promise<void> {
  if (draftOf(schema) === undefined || !isPlainSchema(schema)) await compileSchema(schema)
}

/**
 * Compiles a schema in its own draft; rejects with the reason where it is not a schema of that draft. The compiler is loaded
 * with the first schema: a broker without any does not pay for it. The same object is compiled once.
 */
export function compileSchema(schema: JsonObject): Promise<Validate> {
  const found = compiled.get(schema)
  if (found !== undefined) return found
  const validate = compile(schema)
  compiled.set(schema, validate)
  return validate
}

async function compile(schema: JsonObject): Promise<Validate> {
  const draft = draftOf(schema)
  if (draft === undefined) throw new Error(`its "$schema" names none of the known drafts (${drafts.join(', ')})`)
  const compiler = compilers.get(draft) ?? loadCompiler(draft)
  compilers.set(draft, compiler)
  // Each compiler stands for one draft, however its address is spelled.
  const { $schema: _, ...body } = withoutIds(schema)
  const ajv = await compiler
  const validate = ajv.compile(body)
  // Catalogs change while the broker runs: the compiler must not keep every schema it has ever seen.
  ajv.removeSchema(body)
  return data => (validate(data) ? [] : (validate.errors ?? []))
}

/** Ids mean nothing here, and the compiler would refuse the second of two schemas that carry the same one. */
function withoutIds(schema: JsonObject): JsonObject {
  const entries = Object.entries(mapSubschemas(schema, withoutIds))
  const isId = ([keyword, value]: (typeof entries)[number]) => /^\$?id$/.test(keyword) && typeof value === 'string'
  const isForeign = (keyword: string) => !holdsSchemas(keyword) && keyword !== 'default' && keyword !== 'const'
  return Object.fromEntries(
    entries
      .filter(entry => !isId(entry))
      // What forms write beside a schema (`widget: { id: select }`): the compiler looks for ids there, too.
      .map(([keyword, value]) => [keyword, isJsonObject(value) && isForeign(keyword) ? withoutIds(value) : value]),
  )
}

const regExp = Object.assign(toRegExp, { code: 'new RegExp' })

const options = {
  strict: false,
  allErrors: true,
  useDefaults: true,
  validateSchema: true,
  ownProperties: true,
  logger: false,
  // Parameters are checked a few times in a schema's life: a third less to compile is worth more than faster checks.
  code: { regExp, optimize: false },
} as const

async function loadCompiler(draft: Draft): Promise<Compiler> {
  const [Compiler, formats] = await Promise.all([classes[draft](), import('ajv-formats')])
  const ajv = new Compiler(options)
  formats.default.default(ajv)
  ajv.addFormat('regex', isPattern)
  return ajv
}

const loadAjv = async () => (await import('ajv')).Ajv

const classes = {
  'draft-04': async () => (await import('ajv-draft-04')).default.default,
  'draft-06': loadAjv,
  'draft-07': loadAjv,
  '2019-09': async () => (await import('ajv/dist/2019.js')).Ajv2019,
  '2020-12': async () => (await import('ajv/dist/2020.js')).Ajv2020,
} as const
