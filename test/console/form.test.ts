import { describe, expect, it } from 'vitest'
import { choiceOf, initialOf, kindOf, problemsOf, resolve } from '../../console/src/form/schema.ts'

describe('a form', () => {
  it.each([
    [{ type: 'string' }, 'string'],
    [{ type: ['null', 'string'] }, 'string'],
    [{ type: 'integer' }, 'number'],
    [{ type: 'number' }, 'number'],
    [{ type: 'boolean' }, 'boolean'],
    [{ enum: [1, 'a'] }, 'enum'],
    [{ type: 'array', items: { type: 'string' } }, 'array'],
    [{ type: 'array' }, 'json'],
    [{ type: 'object', properties: { a: {} } }, 'object'],
    [{ properties: { a: {} } }, 'object'],
    [{ type: 'object' }, 'json'],
    [{ oneOf: [{ type: 'string' }] }, 'choice'],
    [{}, 'json'],
  ])('draws %j as %s', (schema, kind) => {
    expect(kindOf(schema)).toBe(kind)
  })

  it('begins with defaults and constants, and with nothing that nobody asked for', () => {
    const schema = {
      type: 'object',
      required: ['needed'],
      properties: {
        size: { type: 'integer', default: 3 },
        kind: { const: 'x' },
        name: { type: 'string' },
        needed: { type: 'object', properties: { a: { type: 'string' } } },
        other: { type: 'object', properties: { a: { type: 'string' } } },
        deep: { type: 'object', properties: { a: { default: true } } },
      },
    }
    expect(initialOf(schema)).toEqual({ size: 3, kind: 'x', needed: {}, deep: { a: true } })
  })

  it('follows references to its own definitions only', () => {
    const root = { definitions: { size: { type: 'integer' } } }
    expect(resolve({ $ref: '#/definitions/size' }, root)).toEqual({ type: 'integer' })
    const elsewhere = { $ref: 'https://other.example/schema' }
    expect(resolve(elsewhere, root)).toBe(elsewhere)
  })

  it('knows which of several forms a value has', () => {
    const schema = { oneOf: [{ type: 'string' }, { type: 'object', required: ['a'] }] }
    expect([choiceOf(schema, 'x'), choiceOf(schema, { a: 1 }), choiceOf(schema, undefined)]).toEqual([0, 1, 0])
  })

  it('says where a value does not fit', () => {
    const schema = { type: 'object', required: ['name'], properties: { size: { type: 'integer', maximum: 5 } } }
    expect(problemsOf(schema, { name: 'a', size: 3 })).toEqual([])
    expect(problemsOf(schema, { size: 9 }).join()).toMatch(/name.*size/s)
  })
})
