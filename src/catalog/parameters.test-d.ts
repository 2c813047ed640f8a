import { describe, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import type { JsonObject } from '../protocol/json.ts'
import type { FromJsonSchema } from './json-schema-type.ts'
import { createParameterSchema, type InferParameters, type ParameterSchema } from './parameters.ts'

/** Takes a schema literal as it is written. */
declare function typeOf<const S>(schema: S): FromJsonSchema<S>

describe('FromJsonSchema', () => {
  it('follows simple types', () => {
    expectTypeOf(typeOf({ type: 'string' })).toEqualTypeOf<string>()
    expectTypeOf(typeOf({ type: 'integer' })).toEqualTypeOf<number>()
    expectTypeOf(typeOf({ type: 'number' })).toEqualTypeOf<number>()
    expectTypeOf(typeOf({ type: 'boolean' })).toEqualTypeOf<boolean>()
    expectTypeOf(typeOf({ type: 'null' })).toEqualTypeOf<null>()
    expectTypeOf(typeOf({ type: ['string', 'null'] })).toEqualTypeOf<string | null>()
    expectTypeOf(typeOf({ enum: ['a', 'b', 3] })).toEqualTypeOf<'a' | 'b' | 3>()
    expectTypeOf(typeOf({ type: 'string', enum: ['a', 'b'] })).toEqualTypeOf<'a' | 'b'>()
    expectTypeOf(typeOf({ const: 'a' })).toEqualTypeOf<'a'>()
  })

  it('follows lists', () => {
    expectTypeOf(typeOf({ type: 'array', items: { type: 'string' } })).toEqualTypeOf<string[]>()
    expectTypeOf(typeOf({ type: 'array' })).toEqualTypeOf<unknown[]>()
    expectTypeOf(typeOf({ type: 'array', items: [{ type: 'string' }] })).toEqualTypeOf<unknown[]>()
  })

  it('follows objects: what is required or has a default is present', () => {
    const value = typeOf({
      type: 'object',
      properties: {
        a: { type: 'string' },
        b: { type: 'number', default: 1 },
        c: { type: 'object', properties: { d: { enum: ['x'] } }, additionalProperties: false },
      },
      required: ['a'],
    })
    expectTypeOf(value).toEqualTypeOf<{ a: string; b: number; c?: { d?: 'x' } }>()
  })

  it('follows additionalProperties', () => {
    expectTypeOf(typeOf({ type: 'object' })).toEqualTypeOf<{ [key: string]: unknown }>()
    expectTypeOf(typeOf({ type: 'object', additionalProperties: { type: 'number' } })).toEqualTypeOf<{
      [key: string]: number
    }>()
    const open = typeOf({
      type: 'object',
      properties: { a: { type: 'string' } },
      required: ['a'],
      additionalProperties: true,
    })
    expectTypeOf(open.a).toEqualTypeOf<string>()
    expectTypeOf(open.other).toEqualTypeOf<unknown>()
  })

  it('follows simple alternatives', () => {
    expectTypeOf(typeOf({ anyOf: [{ type: 'string' }, { type: 'null' }] })).toEqualTypeOf<string | null>()
    expectTypeOf(typeOf({ oneOf: [{ const: 1 }, { enum: ['x'] }] })).toEqualTypeOf<1 | 'x'>()
  })

  it('is unknown where it does not follow', () => {
    expectTypeOf(typeOf({ $ref: '#/definitions/a' })).toEqualTypeOf<unknown>()
    expectTypeOf(typeOf({})).toEqualTypeOf<unknown>()
    expectTypeOf(typeOf({ type: 'whatever' })).toEqualTypeOf<unknown>()
    expectTypeOf<FromJsonSchema<JsonObject>>().toEqualTypeOf<unknown>()
  })
})

describe('createParameterSchema', () => {
  it('infers from a JSON Schema literal', () => {
    const parameters = createParameterSchema({
      type: 'object',
      properties: {
        size: { enum: ['small', 'large'] },
        tags: { type: 'array', items: { type: 'string' }, default: [] },
      },
    })
    expectTypeOf(parameters).toEqualTypeOf<ParameterSchema<{ size?: 'small' | 'large'; tags: string[] }>>()
  })

  it('infers the output of a Standard Schema', () => {
    const schema = z.object({ a: z.string().transform(Number), b: z.array(z.string()).default([]) })
    expectTypeOf(createParameterSchema(schema)).toEqualTypeOf<ParameterSchema<{ a: number; b: string[] }>>()
    expectTypeOf<InferParameters<typeof schema>>().toEqualTypeOf<{ a: number; b: string[] }>()
  })

  it('takes any object where the schema is not known at compile time', () => {
    expectTypeOf<InferParameters<JsonObject>>().toEqualTypeOf<JsonObject>()
    const schema: JsonObject = { type: 'object' }
    expectTypeOf(createParameterSchema(schema)).toEqualTypeOf<ParameterSchema<JsonObject>>()
  })
})
