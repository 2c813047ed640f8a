import { expect, it } from 'vitest'
import { z } from 'zod'
import { createParameterSchema } from './parameters.ts'
import { sensitiveProperties } from './sensitive-properties.ts'

it('finds what a schema marks, by any mark and in any place, and nothing by its name', () => {
  const schema = {
    properties: {
      a: { type: 'string', writeOnly: true },
      b: { type: 'string', format: 'password' },
      c: { 'x-sensitive': true },
      d: { type: 'array', items: { properties: { key: { writeOnly: true } } } },
      e: { $ref: '#/definitions/secret' },
      password: { type: 'string', description: 'not marked' },
    },
    allOf: [{ properties: { f: { sensitive: true } } }, { $ref: '#/definitions/more' }],
    definitions: {
      secret: { anyOf: [{ type: 'null' }, { format: 'password' }, { $ref: '#/definitions/secret' }] },
      more: { properties: { g: { writeOnly: true }, token: {} } },
    },
  }
  expect(sensitiveProperties(schema)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g'])
})

it('reads the marks of a validation library', () => {
  const source = z.object({ pin: z.string().meta({ writeOnly: true }), password: z.string() })
  expect(sensitiveProperties(createParameterSchema(source).jsonSchema)).toEqual(['pin'])
})
