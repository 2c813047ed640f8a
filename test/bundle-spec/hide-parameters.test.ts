import { describe, expect, it } from 'vitest'
import { checkBundle } from '../../src/bundle/check-bundle.ts'
import { hideParameters } from '../../src/bundle/hide-parameters.ts'
import { toCreateSchema } from '../../src/bundle/to-schema.ts'
import { compileSchema } from '../../src/catalog/compile-schema.ts'
import { sensitiveNames } from '../../src/driver/bundle/secrets.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { parse, specWith } from './specs.ts'

const hideIn = (parameters: unknown, ...names: string[]) => {
  const [plan] = hideParameters(parse(specWith({}, { parameters })), names).plans
  if (plan === undefined) throw new Error('no plan')
  return plan.parameters
}
/** What is wrong with the values for who sees only what is not hidden. */
const judge = async (parameters: unknown, names: readonly string[], value: JsonObject) =>
  (await compileSchema(toCreateSchema(hideIn(parameters, ...names))))(structuredClone(value)).map(
    ({ message }) => message,
  )

describe('parameters that the operator gives', () => {
  it('are gone from every plan, and from what it asks for', () => {
    const parameters = [
      { name: 'user', type: 'string', required: true },
      { name: 'pass', type: 'string', required: true, sensitive: true },
    ]
    const plan = { name: 'other', description: 'Another one', parameters, bind_parameters: parameters }
    const spec = hideParameters(parse({ ...specWith(), plans: [{ ...plan, name: 'one' }, plan] }), ['pass', 'nobody'])
    expect(spec.plans.map(one => toCreateSchema(one.parameters))).toEqual([
      expect.objectContaining({ properties: { user: { type: 'string' } }, required: ['user'] }),
      expect.objectContaining({ properties: { user: { type: 'string' } }, required: ['user'] }),
    ])
    expect(spec.plans.flatMap(one => sensitiveNames(one.parameters))).toEqual([])
    // What a bind is given is for users only.
    expect(spec.plans.map(one => sensitiveNames(one.bindParameters))).toEqual([['pass'], ['pass']])
  })

  it('leave a spec as it is where there are none', () => {
    const spec = parse(specWith({}, { parameters: [{ name: 'a', type: 'string' }] }))
    expect(hideParameters(spec, [])).toBe(spec)
    expect(hideParameters(spec, ['b'])).toEqual(spec)
  })

  it('are conditions for no other one: beside any value is always, beside some is perhaps', () => {
    const parameters = [
      { name: 'mode', type: 'enum', enum: ['a', 'b'] },
      { name: 'always', type: 'string', required: true, default: 'x', dependencies: [{ key: 'mode' }] },
      { name: 'perhaps', type: 'string', required: true, default: 'x', dependencies: [{ key: 'mode', value: 'a' }] },
      { name: 'still', type: 'string', dependencies: [{ key: 'always' }] },
    ]
    const hidden = hideIn(parameters, 'mode')
    expect(hidden).toMatchObject({
      list: [
        { name: 'always', required: true, default: 'x' },
        { name: 'perhaps', required: false },
        { name: 'still', dependsOn: { key: 'always' } },
      ],
    })
    expect(JSON.stringify(hidden)).not.toContain('"mode"')
    expect(hidden.kind === 'list' && hidden.list[1]).not.toHaveProperty('default')
  })
})

describe('parameters that the operator gives, in JSON Schema', () => {
  const text = { type: 'string' }
  const when = (condition: object, consequence: object) =>
    Object.fromEntries([
      ['if', condition],
      ['then', consequence],
    ])
  const object = (more: object) => ({ type: 'object', properties: { pass: text, user: text }, ...more })

  it('are gone, and are not asked for', () => {
    const hidden = hideIn(object({ required: ['pass', 'user'], additionalProperties: false }), 'pass')
    expect(hidden).toMatchObject({ schema: { properties: { user: text }, required: ['user'] } })
    expect(JSON.stringify(hidden)).not.toContain('pass')
    const only = hideIn(object({ required: ['pass'] }), 'pass')
    expect(only.kind === 'schema' && only.schema).not.toHaveProperty('required')
  })

  it.each([
    ['all of several', { allOf: [{ required: ['pass'] }] }],
    ['any of several', { anyOf: [{ required: ['pass'] }] }],
    ['one of several', { oneOf: [{ required: ['pass', 'user'] }, { required: ['pass'] }, { required: ['no'] }] }],
    ['none of it', { not: { properties: { pass: { enum: ['x'] } } } }],
    ['a condition', when({ properties: { pass: { const: 'x' } } }, { required: ['more'] })],
    ['a consequence', when({ required: ['user'] }, { required: ['pass'] })],
    ['dependencies', { dependencies: { user: ['pass'], pass: ['more'] } }],
    ['a schema of dependencies', { dependencies: { user: { required: ['pass'] } } }],
    ['dependent names', { dependentRequired: { user: ['pass'] } }],
    ['dependent schemas', { dependentSchemas: { user: { required: ['pass'] } } }],
    ['a reference', { allOf: [{ $ref: '#/definitions/both' }], definitions: { both: { required: ['pass'] } } }],
    ['a number of them', { minProperties: 2 }],
  ])('are not missed in %s', async (_, more) => {
    const $schema = 'https://json-schema.org/draft/2019-09/schema'
    expect(await judge({ $schema, ...object(more) }, ['pass'], { user: 'me' })).toEqual([])
    expect(await judge({ $schema, ...object(more) }, [], { user: 'me' })).not.toEqual([])
  })

  it.each([
    ['required', object({ required: ['user', 'pass'] })],
    ['all of several', object({ allOf: [{ required: ['user', 'pass'] }] })],
    ['one of several', object({ oneOf: [{ required: ['user', 'pass'] }, { required: ['other', 'pass'] }] })],
    ['dependencies', object({ dependencies: { more: ['user', 'pass'] } })],
    ['a reference', { $ref: '#/definitions/a', definitions: { a: object({ required: ['user', 'pass'] }) } }],
  ])('leave the other demands in %s', async (_, schema) => {
    expect(await judge(schema, ['pass'], { more: 1 })).not.toEqual([])
    expect(await judge(schema, ['pass'], { user: 'me', more: 1 })).toEqual([])
  })

  it('are not those of the same name inside of others', async () => {
    const both = { type: 'object', properties: { pass: text }, required: ['pass'] }
    const schema = { $ref: '#/definitions/both', definitions: { both, 'shown-0': text } }
    const nested = { type: 'object', properties: { inner: { $ref: '#/definitions/both' } }, allOf: [schema] }
    const whole = { ...nested, allOf: [{ $ref: '#/definitions/both' }], definitions: schema.definitions }
    expect(await judge(whole, ['pass'], { inner: { pass: 'x' } })).toEqual([])
    expect(await judge(whole, ['pass'], { inner: {} })).not.toEqual([])
  })

  it('are found once, however often they are referred to', async () => {
    const definitions = Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => {
        const next = { $ref: `#/definitions/d${n + 1}` }
        return [`d${n}`, { allOf: [next, next] }]
      }),
    )
    const parameters = {
      type: 'object',
      $ref: '#/definitions/d0',
      definitions: { ...definitions, d40: object({ required: ['pass'] }) },
    }
    const hidden = hideIn(parameters, 'pass')
    expect(JSON.stringify(hidden).length).toBeLessThan(20_000)
  })

  it('leave a schema that the catalog takes', async () => {
    const spec = hideParameters(parse(specWith({}, { parameters: object({ required: ['pass'] }) })), ['pass'])
    const [plan] = spec.plans
    const source = specWith({}, { parameters: plan?.parameters.kind === 'schema' ? plan.parameters.schema : [] })
    expect((await checkBundle(source, { where: 'x', registry: 'r' })).problems).toEqual([])
  })
})
