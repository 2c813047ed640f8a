import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { JsonObject } from '../protocol/json.ts'
import { compileSchema } from './compile-schema.ts'
import { createParameterSchema } from './parameters.ts'

const draft07 = { $schema: 'http://json-schema.org/draft-07/schema#' }
const mistakesIn = async (schema: JsonObject, data: JsonObject) => {
  const errors = (await compileSchema({ ...draft07, ...schema }))(data)
  return errors.map(({ instancePath, message }) => `${instancePath} ${message}`)
}

describe('a schema of a stranger', () => {
  const slow = '^(a+)+$'
  const text = `${'a'.repeat(50_000)}!`

  it.each<[string, JsonObject, JsonObject]>([
    ['pattern', { properties: { a: { pattern: slow } } }, { a: text }],
    ['patternProperties', { patternProperties: { [slow]: {} }, additionalProperties: false }, { [text]: 1 }],
    ['propertyNames', { propertyNames: { pattern: slow } }, { [text]: 1 }],
    ['a default', { properties: { a: { pattern: slow, default: text } } }, {}],
  ])('is matched in linear time: %s', async (_, schema, data) => {
    expect(await mistakesIn(schema, data)).not.toEqual([])
  })

  it.each([
    ['a look-around', '^(?!x)', 'look-around'],
    ['a back reference', '(a)\\1', 'back reference'],
  ])('is refused with %s, and told what to do', async (_, pattern, what) => {
    const reason = new RegExp(`its pattern ".*" has a ${what}.*; write`)
    await expect(compileSchema({ properties: { a: { pattern } } })).rejects.toThrow(reason)
    await expect(compileSchema({ patternProperties: { [pattern]: { type: 'string' } } })).rejects.toThrow(reason)
  })

  it('may have patterns as Go writes them', async () => {
    expect(await mistakesIn({ properties: { a: { pattern: '(?i)\\Aabc\\z' } } }, { a: 'ABC' })).toEqual([])
  })

  it('is not matched with more text than there is time for, also where it says "not"', async () => {
    const pattern = '^(\\d?){900}$'
    const data = () => ({ a: Array.from({ length: 100 }, () => '1'.repeat(10_000)) })
    for (const items of [{ pattern }, { not: { pattern } }])
      expect(await mistakesIn({ properties: { a: { items } } }, data())).toEqual([expect.stringContaining('too long')])
  })

  it.each(['http://a:', 'http://', 'http://a'])('has formats in linear time: url %s', async beginning => {
    const a = `${beginning}${'::'.repeat(10_000)}`
    expect(await mistakesIn({ properties: { a: { format: 'url' } } }, { a })).toEqual([
      expect.stringContaining('too long'),
    ])
    expect(await mistakesIn({ properties: { a: { format: 'url' } } }, { a: 'https://example.com/x' })).toEqual([])
  })

  it('is not followed without end: two references at each level', async () => {
    const levels = Array.from({ length: 60 }, (_, index) => {
      const $ref = `#/definitions/d${index + 1}`
      return [`d${index}`, { allOf: [{ $ref }, { $ref }] }] as const
    })
    const definitions = { ...Object.fromEntries(levels), d60: {} }
    expect(await mistakesIn({ definitions, $ref: '#/definitions/d0' }, {})).toEqual([
      expect.stringContaining('too long'),
    ])
    const both = { properties: { a: { $ref: '#' } } }
    const nested = Array.from({ length: 60 }).reduce<JsonObject>(a => ({ a }), {})
    expect(await mistakesIn({ allOf: [both, both] }, nested)).toEqual([expect.stringContaining('too long')])
    expect(await mistakesIn({ allOf: [{ $ref: '#' }] }, {})).toEqual([expect.stringContaining('too long')])
  })

  it('compares items in linear time', async () => {
    const items = Array.from({ length: 50_000 }, (_, n) => ({ n, b: 1 }))
    const schema = { properties: { a: { uniqueItems: true } } }
    expect(await mistakesIn(schema, { a: items })).toEqual([])
    expect(await mistakesIn(schema, { a: [...items, { b: 1, n: 7 }] })).toEqual(['/a must NOT have duplicate items'])
    expect(await mistakesIn(schema, { a: [1, '1', [1], ['1'], null, 'null'] })).toEqual([])
    expect(await mistakesIn({ properties: { a: { uniqueItems: false } } }, { a: [1, 1] })).toEqual([])
  })
})

describe('mistakes', () => {
  const schema = { properties: { a: { items: { type: 'string' } } } }

  it('are all told', async () => {
    expect(await mistakesIn(schema, { a: [1, 'x', 2] })).toEqual(['/a/0 must be string', '/a/2 must be string'])
  })

  it('end with the first one where there are too many values', async () => {
    expect(await mistakesIn(schema, { a: new Array(300_000).fill(1) })).toEqual(['/a/0 must be string'])
    expect(await mistakesIn(schema, { a: new Array(990).fill(1) })).toHaveLength(990)
  })

  it('end with the first one where a long schema would find too many with few values', async () => {
    const required = Array.from({ length: 200 }, (_, index) => `r${index}`)
    const long = { properties: { a: { items: { allOf: [{ required }] } } } }
    expect(await mistakesIn(long, { a: new Array(990).fill({}) })).toEqual(["/a/0 must have required property 'r0'"])
    expect(await mistakesIn(long, { a: [{}, {}] })).toHaveLength(400)
  })
})

it('a pattern that only the library of a schema knows is left to it', async () => {
  const { jsonSchema, check } = createParameterSchema(
    z.object({ mail: z.email(), code: z.string().regex(/^(?!0)\d+$/) }),
  )
  expect(JSON.stringify(jsonSchema)).not.toContain('(?!')
  expect(await check({ mail: 'me@example.com', code: '12' })).toMatchObject({ ok: true })
  expect(await check({ mail: 'me@@example.com', code: '12' })).toMatchObject({ ok: false })
  expect(await check({ mail: 'me@example.com', code: '012' })).toMatchObject({ ok: false })
})
