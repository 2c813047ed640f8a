/** Requests as an OpenAPI document describes them, and others that are nearly so. */
import fc from 'fast-check'

/** What is read of one operation of a document. */
export interface Described {
  readonly parameters?: readonly {
    readonly in: string
    readonly name: string
    readonly required?: boolean
    readonly schema: object
  }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: object }>> }
}

export interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
}

export interface Sent {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

interface Schema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly minimum?: number
  readonly maximum?: number
}

const oddText = fc.oneof(
  fc.constantFrom('', ' ', '%', '%00', '../..', '__proto__', 'constructor', 'null', '-1', '1e999', 'a'.repeat(3000)),
  fc.constantFrom('2026-01-01T00:00:00Z', '9999-99-99', 'true', 'é\u0000', '\ud83d\ude80', "'; drop table x; --"),
  fc.string({ unit: 'binary', maxLength: 20 }).map(text => text.replace(/[\ud800-\udfff]/g, '?')),
)

/** Texts that mean something to the broker where something of this name is wanted. */
export type Words = (name: string) => fc.Arbitrary<string>

/** One value of a schema in most cases, and anything in some. */
function anyOf(schema: Schema, name: string, words: Words): fc.Arbitrary<unknown> {
  const texts = fc.oneof({ weight: 10, arbitrary: words(name) }, { weight: 1, arbitrary: oddText })
  const wild = fc.jsonValue({ maxDepth: 2 })
  return fc.oneof({ weight: 25, arbitrary: good() }, { weight: 1, arbitrary: wild })

  function good(): fc.Arbitrary<unknown> {
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
    const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
    if (type === 'boolean') return fc.boolean()
    if (type === 'integer' || type === 'number')
      return fc.oneof(fc.integer({ min: schema.minimum ?? -1, max: schema.maximum ?? 1000 }), fc.integer())
    if (type === 'array') return fc.array(anyOf(schema.items ?? {}, name, words), { maxLength: 3 })
    if (type === 'object' && schema.properties !== undefined) return objectOf(schema, words)
    if (type === 'object') return fc.oneof(fc.constant({}), fc.dictionary(words(name), wild, { maxKeys: 3 }))
    return texts
  }
}

function objectOf({ properties = {}, required = [] }: Schema, words: Words): fc.Arbitrary<unknown> {
  const values = Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, anyOf(schema, name, words)]),
  )
  const requiredKeys = required.filter(name => name in values)
  return fc.oneof(
    { weight: 8, arbitrary: fc.record(values, { requiredKeys }) },
    // Without what is needed, or with more than is known.
    { weight: 1, arbitrary: fc.record(values, { requiredKeys: [] }) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(
          fc.record(values, { requiredKeys }),
          fc.dictionary(oddText, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 }),
        )
        .map(([one, more]) => ({ ...one, ...more })),
    },
  )
}

/** Any request to any route of the document. */
export function requestsOf(description: Description, words: Words): fc.Arbitrary<Sent> {
  const routes = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => requestOf(path, method.toUpperCase(), described, words)),
  )
  return fc.oneof(...routes)
}

function requestOf(
  path: string,
  method: string,
  { parameters = [], requestBody }: Described,
  words: Words,
): fc.Arbitrary<Sent> {
  const given = (where: string) => parameters.filter(parameter => parameter.in === where)
  const recordOf = (where: string) =>
    fc.record(
      Object.fromEntries(given(where).map(({ name, schema }) => [name, anyOf(schema, name, words).map(asText)])),
      {
        requiredKeys: given(where).flatMap(({ name, required }) => (required === true ? [name] : [])),
      },
    )
  const schema = requestBody?.content['application/json']?.schema
  const body = schema === undefined ? fc.constant(undefined) : bodyOf(schema, words)
  return fc
    .record({ inPath: recordOf('path'), inQuery: recordOf('query'), inHeader: recordOf('header'), body, odd })
    .map(({ inPath, inQuery, inHeader, body: sent, odd: more }) => {
      const segments = path.replaceAll(
        /\{(\w+)\}/g,
        (_, name: string) => encodeURIComponent(inPath[name] ?? 'x') || 'x',
      )
      const query = new URLSearchParams({ ...(inQuery as Record<string, string>), ...more.query }).toString()
      return {
        method: more.method ?? method,
        path: query === '' ? segments : `${segments}?${query}`,
        headers: { ...headersOf(inHeader as Record<string, string>), ...more.headers },
        ...(sent === undefined ? {} : { body: sent }),
      }
    })
}

function bodyOf(schema: object, words: Words): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 12, arbitrary: anyOf(schema, 'body', words).map(value => JSON.stringify(value) ?? '') },
    { weight: 1, arbitrary: fc.constantFrom('', '{', '[]', 'null', '{"a":1,"a":2}', '\u0000', '['.repeat(5000)) },
  )
}

/** What may be odd about any request. */
const odd = fc.oneof(
  { weight: 8, arbitrary: fc.constant<Odd>({}) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Odd>({ method: 'PUT' }, { method: 'DELETE' }, { method: 'OPTIONS' }, { method: 'HEAD' }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Odd>({ query: { x: '1' } }, { query: { limit: '-1' } }, { query: { cursor: 'e30' } }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Odd>(
      { headers: { 'content-type': 'text/plain' } },
      { headers: { 'idempotency-key': 'k' } },
      { headers: { 'if-match': '"1"' } },
      { headers: { 'if-match': 'x' } },
      { headers: { 'x-broker-api-version': '1.0' } },
      { headers: { 'x-broker-api-originating-identity': 'cf !' } },
      { headers: { accept: 'text/event-stream' } },
      { headers: { cookie: 'purser-session=x' } },
    ),
  },
)

interface Odd {
  readonly method?: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

/** What cannot stand in a header is left out of it. */
function headersOf(given: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name.toLowerCase(),
      value
        .replace(/[^ -~]/g, '')
        .trim()
        .slice(0, 200),
    ]),
  )
}
