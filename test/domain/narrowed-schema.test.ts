import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileSchema } from '../../src/catalog/compile-schema.ts'
import { narrowingsOf } from '../../src/domain/narrowed-schema.ts'
import type { Json, JsonObject } from '../../src/protocol/json.ts'

/** A schema of one closed object with the property `p`. */
function object(p: JsonObject, more: JsonObject = {}): JsonObject {
  return { type: 'object', additionalProperties: false, properties: { p }, ...more }
}

const text = (before: JsonObject | undefined, after: JsonObject | undefined) =>
  narrowingsOf(before, after).map(({ path, problem }) => `${path} ${problem}`)

describe('narrowed', () => {
  it.each<[string, JsonObject, JsonObject, string]>([
    ['type', { type: 'number' }, { type: 'integer' }, '/p no longer takes number'],
    ['one of several types', { type: ['string', 'null'] }, { type: 'string' }, '/p no longer takes null'],
    ['enum', { enum: ['a', 'b'] }, { enum: ['b'] }, '/p no longer takes the value "a"'],
    ['a first enum', { type: 'string' }, { type: 'string', enum: ['a'] }, '/p takes only some values now'],
    ['enum to const', { enum: ['a', 'b'] }, { const: 'a' }, '/p no longer takes the value "b"'],
    ['maxLength', { maxLength: 9 }, { maxLength: 5 }, '/p has a narrower maxLength (5)'],
    ['a first minLength', {}, { minLength: 1 }, '/p has a narrower minLength (1)'],
    ['maximum', { maximum: 9 }, { maximum: 5 }, '/p has a lower maximum'],
    ['minimum', { minimum: 0 }, { minimum: 1 }, '/p has a higher minimum'],
    ['a limit that is excluded', { maximum: 9 }, { exclusiveMaximum: 9 }, '/p has a lower maximum'],
    ['the same in draft-04', { maximum: 9 }, { maximum: 9, exclusiveMaximum: true }, '/p has a lower maximum'],
    ['pattern', { pattern: '^a' }, { pattern: '^ab' }, '/p has another pattern ("^ab")'],
    ['multipleOf', { multipleOf: 2 }, { multipleOf: 4 }, '/p takes only multiples of 4'],
    ['items', { items: { type: 'number' } }, { items: { type: 'integer' } }, '/p/* no longer takes number'],
    ['unique items', {}, { uniqueItems: true }, '/p takes no equal items any more'],
    ['a nested property', object({}), object({ maximum: 3 }), '/p/p has a lower maximum'],
    ['what has to be read', {}, { not: { const: 1 } }, '/p differs in "not", which has to be compared by hand'],
  ])('%s', (_, before, after, problem) => {
    expect(text(object(before), object(after))).toEqual([problem])
  })

  it('a property that is gone, or that is required now', () => {
    expect(text(object({}), { type: 'object', additionalProperties: false })).toEqual(['/p is no longer taken'])
    expect(text(object({}), object({}, { required: ['p'] }))).toEqual(['/ now requires "p"'])
  })

  it('undeclared properties, where none are taken any more', () => {
    expect(text(undefined, object({}))).toEqual(['/ takes no undeclared properties any more'])
    expect(text({ additionalProperties: {} }, { additionalProperties: { type: ['string'] } })[0]).toMatch(
      /^\/\* no longer/,
    )
  })
})

describe('not narrowed', () => {
  it.each<[string, JsonObject, JsonObject]>([
    ['integer to number', { type: 'integer' }, { type: 'number' }],
    ['another type beside it', { type: 'string' }, { type: ['string', 'null'] }],
    ['more values', { enum: ['a'] }, { enum: ['b', 'a'] }],
    ['a type for the values there are', { enum: ['a', 'b'] }, { type: 'string', enum: ['a', 'b'] }],
    ['wider limits', { minimum: 1, maxLength: 5 }, { minimum: 0, maxLength: 9 }],
    ['a limit that is no longer excluded', { exclusiveMinimum: 3 }, { minimum: 3 }],
    ['the same limit in another draft', { maximum: 9, exclusiveMaximum: true }, { exclusiveMaximum: 9 }],
    ['a divisor', { multipleOf: 4 }, { multipleOf: 2 }],
    ['no limit any more', { pattern: '^a', maximum: 3, uniqueItems: true }, {}],
    ['minLength 0', {}, { minLength: 0 }],
    ['words for people', { title: 'a' }, { description: 'b', default: 1, examples: [2], 'x-order': 3 }],
  ])('%s', (_, before, after) => {
    expect(text(object(before), object(after))).toEqual([])
  })

  it('a property that is required and has a default, a new one, an open object', () => {
    expect(text(object({}), object({ default: 1 }, { required: ['p'] }))).toEqual([])
    expect(text({ additionalProperties: false }, object({}))).toEqual([])
    expect(text(object({}), { properties: {} })).toEqual([])
    expect(text(object({ type: 'string' }), undefined)).toEqual([])
  })
})

const some = { requiredKeys: [] as [] }

/** Each family alone: two schemas of one family differ in a keyword or two, so that one missed shows. */
const strings = fc.record(
  {
    type: fc.constantFrom('string', ['string', 'null']),
    minLength: fc.nat(2),
    maxLength: fc.integer({ min: 2, max: 4 }),
    pattern: fc.constantFrom('^a', 'b$'),
  },
  some,
)
const numbers = fc.record(
  {
    type: fc.constantFrom('integer', 'number'),
    minimum: fc.nat(3),
    exclusiveMinimum: fc.nat(3),
    maximum: fc.nat(6),
    exclusiveMaximum: fc.nat(6),
    multipleOf: fc.constantFrom(1, 2, 4),
  },
  some,
)
const values = fc.oneof(
  fc.record({ enum: fc.uniqueArray(fc.constantFrom('a', 'b', 1, 2, null, true), { minLength: 1 }) }),
  fc.record({ const: fc.constantFrom('a', 1, null) }),
  fc.record({ type: fc.constantFrom('string', 'integer', 'null', ['boolean', 'integer']) }),
)
const others = fc.record({ not: fc.constantFrom({ const: 'a' }, { type: 'integer' }), title: fc.string() }, some)
const lists = fc.record(
  {
    type: fc.constant('array'),
    items: fc.oneof(values, numbers, fc.boolean()),
    minItems: fc.nat(1),
    maxItems: fc.nat(2),
    uniqueItems: fc.boolean(),
  },
  some,
)
const leaves: readonly fc.Arbitrary<JsonObject>[] = [strings, numbers, values, others, lists]

function schema(property: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> {
  const level = (content: fc.Arbitrary<JsonObject>) =>
    fc.record(
      {
        type: fc.constant('object'),
        properties: fc.record({ p: content }),
        additionalProperties: fc.constant(false),
        required: fc.constant(['p']),
      },
      { requiredKeys: ['type', 'properties', 'additionalProperties'] },
    )
  return level(fc.oneof(property, level(property))).map(body => ({
    $schema: 'http://json-schema.org/draft-07/schema#',
    ...body,
  }))
}

const pair = fc.oneof(...leaves.map(leaf => fc.tuple(schema(leaf), schema(leaf))))

const scalars = ['', 'a', 'ab', 'bbbb', 0, 1, 2, 3, 3.5, 4, 6, true, null]
const contents: readonly Json[] = [...scalars, [], [1], ['a'], [1, 1], [1, 'a'], [null], [2, 4]]
const candidates: readonly JsonObject[] = [{}, ...contents.flatMap(p => [{ p }, { p: { p } }]), { p: {} }]

describe('whatever the old schema took and the new one refuses', () => {
  it('is named', async () => {
    let narrowed = 0
    let silent = 0
    await fc.assert(
      fc.asyncProperty(pair, async ([before, after]) => {
        const [took, takes] = await Promise.all([compileSchema(before), compileSchema(after)])
        const found = narrowingsOf(before, after)
        if (found.length === 0) silent++
        const lost = candidates.filter(one => took(one).length === 0 && takes(one).length > 0)
        if (lost.length === 0) return
        narrowed++
        expect(found, JSON.stringify(lost)).not.toEqual([])
      }),
      { numRuns: 400 },
    )
    expect(narrowed, 'pairs in which something was refused').toBeGreaterThan(40)
    expect(silent, 'pairs of which nothing is said').toBeGreaterThan(5)
  })
})
