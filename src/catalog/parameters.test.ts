import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { JsonObject } from '../protocol/json.ts'
import { createParameterSchema, type ParameterSource, toUpdateSchema } from './parameters.ts'
import type { StandardSchemaV1 } from './standard-schema.ts'

async function problemsOf(source: ParameterSource, input: JsonObject): Promise<readonly string[]> {
  const checked = await createParameterSchema(source).check(input)
  return checked.ok ? [] : checked.problems
}

describe('JSON Schema', () => {
  const schema = {
    type: 'object',
    properties: {
      size: { enum: ['small', 'large'] },
      count: { type: 'integer', minimum: 1, default: 3 },
      password: { type: 'string', minLength: 8, pattern: '^[a-z]+$' },
      mail: { type: 'string', format: 'email' },
      nested: { type: 'object', properties: { list: { type: 'array', items: { type: 'number' }, default: [1] } } },
    },
    required: ['size'],
    additionalProperties: false,
  } as const

  it('fills defaults into a copy', async () => {
    const input = { size: 'small', nested: {} }
    const checked = await createParameterSchema(schema).check(input)
    expect(checked).toEqual({ ok: true, value: { size: 'small', count: 3, nested: { list: [1] } } })
    expect(input).toEqual({ size: 'small', nested: {} })
  })

  it('does not share defaults between requests', async () => {
    const parameters = createParameterSchema(schema)
    const first = await parameters.check({ size: 'small', nested: {} })
    if (!first.ok) throw new Error('refused')
    Object.assign(Reflect.get(first.value, 'nested') ?? {}, { list: 'changed' })
    expect(await parameters.check({ size: 'small', nested: {} })).toMatchObject({ value: { nested: { list: [1] } } })
  })

  it('names the field and the rule, and never the value', async () => {
    const input = {
      size: 'hunter2',
      count: 0.5,
      password: 'Hunter2',
      mail: 'hunter2',
      nested: { list: ['hunter2'] },
      extra: 'hunter2',
      'a b': 1,
    }
    const problems = await problemsOf(schema, input)
    expect([...problems].sort()).toEqual([
      'parameters.count: must be >= 1',
      'parameters.count: must be of type integer',
      'parameters.extra: is not a known parameter',
      'parameters.mail: must match format "email"',
      'parameters.nested.list[0]: must be of type number',
      'parameters.password: must NOT have fewer than 8 characters',
      'parameters.password: must match pattern "^[a-z]+$"',
      'parameters.size: must be one of small, large',
      'parameters["a b"]: is not a known parameter',
    ])
    expect(problems.join().toLowerCase()).not.toContain('hunter2')
    expect(await problemsOf(schema, {})).toEqual(['parameters.size: is required'])
    expect(await problemsOf({ properties: { a: { const: 7 } } }, { a: 8 })).toEqual(['parameters.a: must be 7'])
  })

  it('bounds what it says', async () => {
    const input = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`k${index}`, 1]))
    const problems = await problemsOf({ additionalProperties: false }, input)
    expect(problems).toHaveLength(21)
    expect(problems.at(-1)).toBe('and 480 more')
    expect((await problemsOf({ additionalProperties: false }, { ['x'.repeat(10_000)]: 1 })).join().length).toBeLessThan(
      200,
    )
  })

  it.each([
    ['http://json-schema.org/draft-04/schema#', { minimum: 1, exclusiveMinimum: true }, 1],
    ['http://json-schema.org/draft-06/schema#', { exclusiveMinimum: 1 }, 1],
    ['http://json-schema.org/draft-07/schema#', { if: { type: 'number' }, else: false }, 'x'],
    ['https://json-schema.org/draft/2019-09/schema', { dependentRequired: { a: ['b'] } }, { a: 1 }],
    ['https://json-schema.org/draft/2020-12/schema', { prefixItems: [{ type: 'string' }] }, [1]],
  ])('checks by the rules of %s', async ($schema, rule, value) => {
    expect(await problemsOf({ $schema, properties: { p: rule } }, { p: value })).not.toEqual([])
    expect(await problemsOf({ $schema, properties: { p: rule } }, {})).toEqual([])
  })

  it('advertises its draft, and gives the stored value back', async () => {
    expect(createParameterSchema({ type: 'object' }).jsonSchema).toEqual({
      $schema: 'http://json-schema.org/draft-04/schema#',
      type: 'object',
    })
    expect(await createParameterSchema({ type: 'object' }).parse({ a: 1 })).toEqual({ a: 1 })
  })

  it('rejects when the schema is none', async () => {
    await expect(createParameterSchema({ type: 'strin' }).check({})).rejects.toThrow('schema is invalid')
  })
})

describe('hostile input', () => {
  it.each(['{"__proto__":{"polluted":1}}', '{"a":{"__proto__":{"polluted":1}}}', '{"a":[{"__proto__":null}]}'])(
    'refuses %s',
    async text => {
      expect(await problemsOf({ type: 'object' }, JSON.parse(text))).toEqual([
        'parameters: must not have a field named __proto__',
      ])
      expect(await problemsOf(z.looseObject({}), JSON.parse(text))).not.toEqual([])
      expect(Reflect.get({}, 'polluted')).toBeUndefined()
    },
  )

  it('does not take inherited names for given ones', async () => {
    const problems = await problemsOf(
      { required: ['toString', 'constructor'], properties: { hasOwnProperty: { type: 'string' } } },
      {},
    )
    expect(problems).toEqual(['parameters.toString: is required', 'parameters.constructor: is required'])
    expect(await problemsOf({ additionalProperties: false }, { constructor: 1 })).toEqual([
      'parameters.constructor: is not a known parameter',
    ])
  })

  it('refuses more values than a library could list the mistakes of', async () => {
    const looked: unknown[] = []
    const each = z.number().refine(value => looked.push(value) < 0, 'wrong')
    for (const schema of [{ type: 'object' }, z.object({ a: z.array(each) })]) {
      const { check } = createParameterSchema(schema)
      const problems = ['parameters: must not hold more than 50000 values']
      expect(await check({ a: new Array(500_000).fill(1) })).toEqual({ ok: false, problems })
      expect(looked).toEqual([])
    }
    const { check } = createParameterSchema(z.object({ a: z.array(each) }))
    const checked = await check({ a: new Array(49_998).fill(1) })
    expect(checked.ok ? [] : checked.problems).toEqual([
      ...Array.from({ length: 20 }, (_, index) => `parameters.a[${index}]: wrong`),
      'and 49978 more',
    ])
    expect(await createParameterSchema({ type: 'object' }).check({ a: new Array(49_998).fill(1) })).toMatchObject({
      ok: true,
    })
  })

  it('refuses bottomless nesting', async () => {
    const deep: JsonObject = JSON.parse(`${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`)
    const recursive = { properties: { a: { $ref: '#' } } }
    expect(await problemsOf(recursive, deep)).toEqual(['parameters: must not be nested more than 100 levels deep'])
    const shallow: JsonObject = JSON.parse(`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`)
    expect(await problemsOf(recursive, shallow)).toEqual([])
  })
})

describe('a Standard Schema', () => {
  const schema = z.object({
    size: z.enum(['small', 'large']),
    tags: z.array(z.string()).default([]),
    port: z.string().transform(Number).default(5432),
    note: z
      .string()
      .refine(async text => text !== 'hunter2', 'must be something else')
      .optional(),
  })

  it('advertises closed draft-04 of its input', () => {
    expect(createParameterSchema(schema).jsonSchema).toEqual({
      $schema: 'http://json-schema.org/draft-04/schema#',
      type: 'object',
      properties: {
        size: { type: 'string', enum: ['small', 'large'] },
        tags: { type: 'array', items: { type: 'string' }, default: [] },
        // Its default is a number, for the output: filled in when the author's code gets it, not before.
        port: { type: 'string' },
        note: { type: 'string' },
      },
      required: ['size'],
      additionalProperties: false,
    })
  })

  it.each([
    ['a loose object', z.looseObject({ a: z.string() })],
    ['a catchall', z.object({}).catchall(z.unknown())],
    ['a record', z.record(z.string(), z.unknown())],
    ['a union', z.union([z.object({ a: z.string() }), z.object({ b: z.string() })])],
  ])('leaves %s open', async (_, open) => {
    expect(await problemsOf(open, { a: 'x', other: 1 })).toEqual([])
  })

  it('stores the input form and parses the output form', async () => {
    const parameters = createParameterSchema(schema)
    const checked = await parameters.check({ size: 'small', port: '80' })
    expect(checked).toEqual({ ok: true, value: { size: 'small', port: '80', tags: [] } })
    expect(await parameters.parse({ size: 'small', port: '80', tags: [] })).toEqual({
      size: 'small',
      port: 80,
      tags: [],
    })
    expect(await parameters.parse({ size: 'small' })).toEqual({ size: 'small', port: 5432, tags: [] })
  })

  it('refuses unknown keys and what an asynchronous refinement refuses', async () => {
    expect(await problemsOf(schema, { size: 'small', sise: 1 })).toEqual(['parameters.sise: is not a known parameter'])
    expect(await problemsOf(schema, { size: 'small', note: 'hunter2' })).toEqual([
      'parameters.note: must be something else',
    ])
  })

  it('says which stored parameters a changed schema no longer takes', async () => {
    await expect(createParameterSchema(schema).parse({ size: 'medium' })).rejects.toThrow(
      /no longer fit their schema: parameters\.size/,
    )
  })

  it('names the fields of issues, path segments included', async () => {
    const odd: StandardSchemaV1 = {
      '~standard': {
        version: 1,
        vendor: 'odd',
        validate: () => ({
          issues: [{ message: 'is bad', path: [{ key: 'list' }, 0, 'a b'] }, { message: 'is all bad' }],
        }),
        jsonSchema: { input: () => ({ type: 'object' }) },
      },
    }
    expect(await problemsOf(odd, {})).toEqual(['parameters.list[0]["a b"]: is bad', 'parameters: is all bad'])
  })

  it('falls back to draft-07 where a library cannot write draft-04', () => {
    const input = ({ target }: { readonly target: string }) => {
      if (target !== 'draft-07') throw new Error('unsupported')
      return { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' }
    }
    const newer: StandardSchemaV1 = {
      '~standard': { version: 1, vendor: 'newer', validate: value => ({ value }), jsonSchema: { input } },
    }
    expect(createParameterSchema(newer).jsonSchema.$schema).toBe('http://json-schema.org/draft-07/schema#')
  })

  it('says what to do where a library writes no JSON Schema', () => {
    const old: StandardSchemaV1 = { '~standard': { version: 1, vendor: 'old', validate: value => ({ value }) } }
    expect(() => createParameterSchema(old)).toThrow('this version of old cannot write its schemas as JSON Schema')
    expect(() => createParameterSchema(z.object({ when: z.date() }))).toThrow(
      /this zod schema cannot be written as JSON Schema \(Date/,
    )
  })
})

describe('toUpdateSchema', () => {
  const create = createParameterSchema({
    properties: {
      default: { type: 'string', default: 'x' },
      nested: { type: 'object', properties: { a: { default: 1 }, b: {} }, required: ['b'] },
      any: { anyOf: [{ default: 1 }, { items: { default: 2 } }] },
    },
    required: ['default'],
    additionalProperties: false,
  })

  it('demands nothing and fills nothing in', async () => {
    const update = toUpdateSchema(create)
    expect(update.jsonSchema).toEqual({
      $schema: 'http://json-schema.org/draft-04/schema#',
      properties: {
        default: { type: 'string' },
        nested: { type: 'object', properties: { a: {}, b: {} }, required: ['b'] },
        any: { anyOf: [{}, { items: {} }] },
      },
      additionalProperties: false,
    })
    expect(await update.check({})).toEqual({ ok: true, value: {} })
    expect(await update.check({ nested: { b: 2 } })).toEqual({ ok: true, value: { nested: { b: 2 } } })
  })

  it('still refuses what no creation takes', async () => {
    expect(await toUpdateSchema(create).check({ other: 1, default: 2 })).toEqual({
      ok: false,
      problems: ['parameters.other: is not a known parameter', 'parameters.default: must be of type string'],
    })
  })

  it('follows from a Standard Schema too', async () => {
    const update = toUpdateSchema(
      createParameterSchema(z.object({ size: z.string(), tags: z.array(z.string()).default([]) })),
    )
    expect(await update.check({})).toEqual({ ok: true, value: {} })
  })
})

describe('what other tools write beside a schema', () => {
  it('may have ids of its own, and properties may be called id', async () => {
    const widget = (id: string) => ({ type: 'string', widget: { id } })
    const schema = createParameterSchema({
      type: 'object',
      properties: { id: widget('select'), region: widget('select'), $id: { type: 'integer' } },
      dependencies: { region: ['id'] },
    })
    expect(await schema.check({ id: 'a', region: 'b', $id: 1 })).toMatchObject({ ok: true })
    expect(await schema.check({ id: 1, $id: 'x' })).toMatchObject({ ok: false })
    expect(await schema.check({ region: 'b' })).toMatchObject({ ok: false })
  })
})
