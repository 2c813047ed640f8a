import { describe, expect, it } from 'vitest'
import type { BundleParameters } from '../../src/bundle/spec.ts'
import { toCreateSchema, toUpdateSchema } from '../../src/bundle/to-schema.ts'
import { compileSchema } from '../../src/catalog/compile-schema.ts'
import { createParameterSchema } from '../../src/catalog/parameters.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { parseParameters } from './specs.ts'

const draft04 = 'http://json-schema.org/draft-04/schema#'

/** What a user is told, or what is stored for him. */
async function check(schema: JsonObject, input: JsonObject): Promise<readonly string[] | JsonObject> {
  const checked = await createParameterSchema(schema).check(input)
  return checked.ok ? checked.value : checked.problems
}
const create = (parameters: BundleParameters, input: JsonObject) => check(toCreateSchema(parameters), input)
const update = (parameters: BundleParameters, input: JsonObject) => check(toUpdateSchema(parameters), input)

describe('the schema of a list of parameters', () => {
  it('says everything that the list says, in draft-04', () => {
    const parameters = parseParameters([
      { name: 's', title: 'S', description: 'A text', type: 'string', default: 'abc', min_length: 2, max_length: 5 },
      { name: 'p', type: 'string', pattern: '^a', required: true, updatable: true },
      { name: 'e', type: 'enum', enum: ['a', 'b'], updatable: true, default: 'a' },
      { name: 'i', type: 'int', minimum: 0, maximum: 10, multiple_of: 2 },
      { name: 'n', type: 'number', exclusive_minimum: 0, exclusive_maximum: 1.5 },
      { name: 'b', type: 'bool' },
      { name: 'o', type: 'object' },
      { name: 'a', type: 'array' },
      { name: 'z', type: 'null' },
    ])
    expect(toCreateSchema(parameters)).toEqual({
      $schema: draft04,
      type: 'object',
      additionalProperties: false,
      properties: {
        s: { type: 'string', title: 'S', description: 'A text', default: 'abc', minLength: 2, maxLength: 5 },
        p: { type: 'string', pattern: '^a' },
        e: { type: 'string', enum: ['a', 'b'], default: 'a' },
        i: { type: 'integer', minimum: 0, maximum: 10, multipleOf: 2 },
        n: { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 1.5, exclusiveMaximum: true },
        b: { type: 'boolean' },
        o: { type: 'object' },
        a: { type: 'array' },
        z: { type: 'null' },
      },
      required: ['p'],
    })
    expect(toUpdateSchema(parameters)).toEqual({
      $schema: draft04,
      type: 'object',
      additionalProperties: false,
      properties: { p: { type: 'string', pattern: '^a' }, e: { type: 'string', enum: ['a', 'b'] } },
      required: ['p'],
    })
  })

  it('really validates', async () => {
    const parameters = parseParameters([
      { name: 's', type: 'string', min_length: 2, pattern: '^a' },
      { name: 'n', type: 'number', exclusive_maximum: 2, maximum: 5 },
      { name: 'm', type: 'int', exclusive_maximum: 5, maximum: 2 },
      { name: 'e', type: 'enum', enum: ['x'], default: 'x', updatable: true },
    ])
    expect(await create(parameters, {})).toEqual({ e: 'x' })
    expect(await create(parameters, { s: 'ab', n: 1.9, m: 2 })).toEqual({ s: 'ab', n: 1.9, m: 2, e: 'x' })
    expect(await create(parameters, { s: 'a', n: 2, m: 3, e: 'y', other: 1 })).toEqual([
      'parameters.other: is not a known parameter',
      'parameters.s: must NOT have fewer than 2 characters',
      'parameters.n: must be < 2',
      'parameters.m: must be <= 2',
      'parameters.e: must be one of x',
    ])
    // What an update leaves out stays: its default must not come back.
    expect(await update(parameters, {})).toEqual({})
    expect(await update(parameters, { s: 'ab' })).toEqual(['parameters.s: is not a known parameter'])
  })

  it('of nothing takes nothing', async () => {
    const none: BundleParameters = { kind: 'list', list: [] }
    expect(toCreateSchema(none)).toEqual({ $schema: draft04, type: 'object', additionalProperties: false })
    expect(await create(none, { a: 1 })).toEqual(['parameters.a: is not a known parameter'])
  })
})

describe('conditions between parameters', () => {
  const parameters = parseParameters([
    { name: 'E', type: 'enum', enum: ['Yes', 'No', 'Maybe'], default: 'No' },
    { name: 'A', type: 'string', required: true, dependencies: [{ key: 'E', value: ['Yes', 'Maybe'] }] },
    { name: 'B', type: 'int', minimum: 3, dependencies: [{ key: 'E', value: 'No' }] },
    { name: 'X', type: 'boolean' },
    { name: 'C', type: 'string', required: true, dependencies: [{ key: 'X' }] },
    { name: 'D', type: 'string', default: 'd', dependencies: [{ key: 'X' }] },
    { name: 'T', type: 'string', required: true, dependencies: [{ key: 'X', value: 'true' }] },
  ])

  it('keep every parameter among the properties', () => {
    expect(Object.keys(toCreateSchema(parameters).properties ?? {})).toEqual(['E', 'A', 'B', 'X', 'C', 'D', 'T'])
  })

  it.each<[string, JsonObject, JsonObject | RegExp]>([
    ['nothing is asked for', {}, { E: 'No' }],
    ['what belongs to the default is taken', { B: 3 }, { E: 'No', B: 3 }],
    ['what is optional may be left out', { E: 'No' }, { E: 'No' }],
    ['its own rules hold', { B: 2 }, /parameters\.B: must be >= 3/],
    ['what belongs to another value is refused', { A: 'a' }, /parameters\.E: must be one of Yes, Maybe/],
    ['what the value asks for is demanded', { E: 'Yes' }, /parameters\.A: is required/],
    ['and taken', { E: 'Maybe', A: 'a' }, { E: 'Maybe', A: 'a' }],
    ['the other side is refused', { E: 'Yes', A: 'a', B: 4 }, /parameters\.E: must be one of No/],
    ['beside any value it is demanded', { X: false }, /parameters\.C: is required/],
    ['and its default is filled in', { X: false, C: 'c' }, { E: 'No', X: false, C: 'c', D: 'd' }],
    ['without the other one it is refused', { C: 'c' }, /parameters\.X: is required/],
    ['a flag as a text means the flag', { X: true, C: 'c' }, /parameters\.T: is required/],
    ['all of it together', { X: true, C: 'c', T: 't' }, { E: 'No', X: true, C: 'c', T: 't', D: 'd' }],
    ['and not with the other flag', { X: false, C: 'c', T: 't' }, /parameters\.X: must be one of true/],
  ])('%s', async (_, input, expected) => {
    const result = await create(parameters, input)
    if (expected instanceof RegExp) expect([result].flat().join('; ')).toMatch(expected)
    else expect(result).toEqual(expected)
  })

  it('in an update refuse only what contradicts itself, since the rest is stored', async () => {
    const updatable = parseParameters([
      { name: 'E', type: 'enum', enum: ['Yes', 'No'], updatable: true },
      { name: 'A', type: 'string', required: true, updatable: true, dependencies: [{ key: 'E', value: 'Yes' }] },
      { name: 'F', type: 'string' },
      { name: 'G', type: 'string', updatable: true, dependencies: [{ key: 'F', value: 'x' }] },
    ])
    expect(await update(updatable, { A: 'a', G: 'g' })).toEqual({ A: 'a', G: 'g' })
    expect(await update(updatable, { E: 'Yes' })).toEqual({ E: 'Yes' })
    expect(await update(updatable, { E: 'No', A: 'a' })).toEqual(['parameters.E: must be one of Yes'])
  })

  it('on a text without an enum hold for the value', async () => {
    const free = parseParameters([
      { name: 'K', type: 'string' },
      { name: 'P', type: 'string', required: true, dependencies: [{ key: 'K', value: 'v' }] },
    ])
    expect(await create(free, { K: 'other' })).toEqual({ K: 'other' })
    expect(await create(free, { K: 'v', P: 'p' })).toEqual({ K: 'v', P: 'p' })
    expect([await create(free, { K: 'v' })].flat().join()).toMatch(/parameters\.P: is required/)
    expect([await create(free, { K: 'other', P: 'p' })].flat().join()).toMatch(/parameters\.K: must be one of v/)
  })

  it('are demanded outright where they name all values', () => {
    const all = parseParameters([
      { name: 'K', type: 'enum', enum: ['a', 'b'] },
      { name: 'P', type: 'string', required: true, dependencies: [{ key: 'K', value: ['a', 'b'] }] },
    ])
    expect(toCreateSchema(all).dependencies).toMatchObject({ K: { required: ['P'] } })
  })

  it('may form a chain and a circle', async () => {
    const circle = parseParameters([
      { name: 'a', type: 'string', required: true, dependencies: [{ key: 'b' }] },
      { name: 'b', type: 'string', dependencies: [{ key: 'a' }] },
    ])
    expect(await create(circle, {})).toEqual({})
    expect(await create(circle, { a: '1', b: '2' })).toEqual({ a: '1', b: '2' })
    expect(await create(circle, { a: '1' })).toEqual(['parameters.b: is required'])
  })
})

describe("an author's own JSON Schema", () => {
  const parameters = parseParameters({
    type: 'object',
    additionalProperties: false,
    properties: {
      users: {
        type: 'array',
        updatable: true,
        items: { type: 'object', properties: { name: { $ref: '#/definitions/name' } }, required: ['name'] },
      },
      region: { type: 'string', default: 'eu', enum: ['eu', 'us'] },
      replicas: { type: 'integer', default: 1, minimum: 1, updatable: true },
      updatable: { type: 'string', sensitive: true },
    },
    required: ['users', 'region'],
    definitions: { name: { type: 'string', minLength: 1, default: 'x', sensitive: true } },
  })

  it('is advertised as it is, without our own words', async () => {
    const schema = toCreateSchema(parameters)
    expect(JSON.stringify(schema)).not.toMatch(/"sensitive"|"updatable":true/)
    expect(Object.keys(schema.properties ?? {})).toEqual(['users', 'region', 'replicas', 'updatable'])
    expect(await create(parameters, { users: [{ name: 'a' }] })).toEqual({
      users: [{ name: 'a' }],
      region: 'eu',
      replicas: 1,
    })
    expect(await create(parameters, { users: [{ name: '' }] })).toEqual([
      'parameters.users[0].name: must NOT have fewer than 1 characters',
    ])
  })

  it('lets an update change what it marks as updatable', async () => {
    expect(toUpdateSchema(parameters)).toMatchObject({ required: ['users'], additionalProperties: false })
    expect(await update(parameters, { users: [] })).toEqual({ users: [] })
    expect(await update(parameters, { users: [], region: 'us' })).toEqual([
      'parameters.region: is not a known parameter',
    ])
  })

  it('lets an update change nothing where nothing is marked', async () => {
    const fixed = parseParameters({ properties: { a: { type: 'string' } } })
    expect(await update(fixed, { a: 'b' })).toEqual(['parameters.a: is not a known parameter'])
    await expect(compileSchema(toUpdateSchema(fixed))).resolves.toBeTypeOf('function')
  })
})
