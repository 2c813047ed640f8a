import type { Ajv, ErrorObject, FuncKeywordDefinition } from 'ajv'
import { isJsonObject, type Json, type JsonObject, toCanonicalJson } from '../protocol/json.ts'
import { messageOf } from '../shape/thrown.ts'
import { type Draft, draftOf, drafts } from './json-schema-draft.ts'
import { holdsSchemas, mapSubschemas } from './json-schema-walk.ts'
import { canCompile, compilePattern, PatternError, spend, withinLimits } from './pattern.ts'
import { isPlainSchema } from './plain-schema.ts'

/**
 * Fills the schema's defaults into `data`, and says what is wrong with it: all of it, or the first thing where there is so much
 * data that a list of mistakes would take long to make and be of no use.
 */
export type Validate = (data: JsonObject) => readonly ErrorObject[]

type Compiler = Pick<Ajv, 'compile' | 'removeSchema'>

interface Compilers {
  /** What it compiles stops at the first mistake. */
  readonly quick: Compiler
  /** What it compiles finds all of them. It is made when there is one. */
  thorough(): Compiler
}

const compiled = new WeakMap<JsonObject, Promise<Validate>>()
const compilers = new Map<Draft, Promise<Compilers>>()

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
  const loading = compilers.get(draft) ?? loadCompilers(draft)
  compilers.set(draft, loading)
  // Each compiler stands for one draft, however its address is spelled.
  const { $schema: _, ...body } = prepared(schema)
  const { quick, thorough } = await loading
  const isFine = compileWith(quick, body)
  // Each part of the schema may find a mistake with each value.
  const mostTold = Math.min(mostValues, mostMistakes / countValues(body, mostMistakes))
  let findAll: ReturnType<typeof compileWith> | undefined
  const findMistakes = (data: JsonObject) => {
    if (isFine(data)) return []
    if (countValues(data, mostTold) > mostTold) return isFine.errors ?? []
    findAll ??= compileWith(thorough(), body)
    return findAll(data) ? [] : (findAll.errors ?? [])
  }
  return data => {
    try {
      return withinLimits(() => findMistakes(data))
    } catch (error) {
      if (error instanceof PatternError || error instanceof RangeError) return [tooMuchWork]
      throw error
    }
  }
}

function compileWith(compiler: Compiler, schema: JsonObject) {
  const validate = withinLimits(() => compiler.compile<JsonObject>(schema))
  // Catalogs change while the broker runs: the compiler must not keep every schema it has ever seen.
  compiler.removeSchema(schema)
  return validate
}

const tooMuchWork: ErrorObject = {
  instancePath: '',
  schemaPath: '',
  keyword: 'limit',
  params: {},
  message: 'it takes too long to check so much against the schema; send fewer or shorter values',
}

/** Up to this many values, all mistakes are told; fewer where the schema is so long that there could be too many of them. */
const mostValues = 1000
const mostMistakes = 100_000

/** How many values there are, the one itself included; anything above `most` where there are more. */
function countValues(data: Json, most: number): number {
  const open: (Json | undefined)[] = [data]
  let count = 0
  while (open.length > 0 && count <= most) {
    const value = open.pop()
    count += 1
    if (typeof value !== 'object' || value === null || count + open.length > most) continue
    for (const inner of Object.values(value)) open.push(inner)
  }
  return count + open.length
}

/**
 * A schema for the compiler. Ids mean nothing here, and it would refuse the second of two schemas that carry the same one;
 * references are counted.
 */
function prepared(schema: JsonObject): JsonObject {
  const entries = Object.entries(mapSubschemas(schema, prepared))
  const isId = ([keyword, value]: (typeof entries)[number]) => /^\$?id$/.test(keyword) && typeof value === 'string'
  const isForeign = (keyword: string) => !holdsSchemas(keyword) && keyword !== 'default' && keyword !== 'const'
  const rest = entries
    .filter(entry => !isId(entry))
    // What forms write beside a schema (`widget: { id: select }`): the compiler looks for ids there, too.
    .map(([keyword, value]) => [keyword, isJsonObject(value) && isForeign(keyword) ? prepared(value) : value])
  return Object.fromEntries(schema.$ref === undefined ? rest : [...rest, [counted.keyword, true]])
}

const regExp = Object.assign(
  (pattern: string) => {
    try {
      return compilePattern(pattern)
    } catch (error) {
      throw new Error(`its pattern ${JSON.stringify(pattern)} ${messageOf(error)}`, { cause: error })
    }
  },
  { code: 'compilePattern' },
)

const options = {
  strict: false,
  useDefaults: true,
  ownProperties: true,
  logger: false,
  // Parameters are checked a few times in a schema's life: a third less to compile is worth more than faster checks.
  code: { regExp, optimize: false },
} as const

async function loadCompilers(draft: Draft): Promise<Compilers> {
  const [Compiler, formats] = await Promise.all([classes[draft](), import('ajv-formats')])
  const create = (mode: { readonly allErrors: boolean; readonly validateSchema: boolean }): Compiler => {
    const ajv = new Compiler({ ...options, ...mode })
    formats.default.default(ajv)
    ajv.addFormat('regex', isRegex)
    const isUrl = formats.default.default.get('url') as RegExp
    ajv.addFormat('url', text => {
      // Its expression takes quadratic time.
      spend(text.length ** 2, 'takes too long to match')
      return isUrl.test(text)
    })
    ajv.removeKeyword('uniqueItems')
    return ajv.addKeyword(uniqueItems).addKeyword(counted)
  }
  let thorough: Compiler | undefined
  return {
    quick: create({ allErrors: false, validateSchema: true }),
    thorough: () => {
      thorough ??= create({ allErrors: true, validateSchema: false })
      return thorough
    },
  }
}

/** In linear time: the compiler's own compares each item with each other one. */
const uniqueItems: FuncKeywordDefinition = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  errors: false,
  error: { message: 'must NOT have duplicate items' },
  validate: (wanted: boolean, items: readonly Json[]) =>
    !wanted || new Set(items.map(toCanonicalJson)).size === items.length,
}

/** Stands beside each reference: a short schema with two at each level of the data is followed without end. */
const counted: FuncKeywordDefinition = {
  keyword: 'x-purser-counted',
  schema: false,
  validate: () => {
    spend(50, 'follows too many references')
    return true
  },
}

const loadAjv = async () => (await import('ajv')).Ajv

const classes = {
  'draft-04': async () => (await import('ajv-draft-04')).default.default,
  'draft-06': loadAjv,
  'draft-07': loadAjv,
  '2019-09': async () => (await import('ajv/dist/2019.js')).Ajv2019,
  '2020-12': async () => (await import('ajv/dist/2020.js')).Ajv2020,
} as const

/** In the words of JSON Schema, or in those of Go. It is not matched with anything. */
function isRegex(text: string): boolean {
  try {
    return new RegExp(text) instanceof RegExp
  } catch {
    return canCompile(text)
  }
}
