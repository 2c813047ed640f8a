import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../protocol/json.ts'
import { draftOf, draftUri, withDraft } from './json-schema-draft.ts'

describe('draftOf', () => {
  it.each([
    ['http://json-schema.org/draft-04/schema#', 'draft-04'],
    ['https://json-schema.org/draft-04/schema', 'draft-04'],
    ['http://json-schema.org/draft-06/schema#', 'draft-06'],
    ['http://json-schema.org/draft-07/schema', 'draft-07'],
    ['https://json-schema.org/draft/2019-09/schema', '2019-09'],
    ['https://json-schema.org/draft/2020-12/schema#', '2020-12'],
    ['http://json-schema.org/schema#', undefined],
    ['', undefined],
    [4, undefined],
    [null, undefined],
  ])('reads %j as %s', ($schema, draft) => {
    expect(draftOf({ $schema })).toBe(draft)
  })

  it.each<[string, JsonObject]>([
    ['an empty schema', {}],
    ['plain words', { type: 'object', properties: { a: { enum: [1] } }, required: ['a'], additionalProperties: false }],
    ['boolean bounds', { properties: { a: { minimum: 1, exclusiveMinimum: true } } }],
    ['properties named like newer words', { properties: { const: { type: 'string' }, if: { type: 'string' } } }],
    ['values that look like schemas', { enum: [{ const: 1 }], default: { const: 1 } }],
    ['a list of items', { items: [{ type: 'string' }], additionalItems: false }],
  ])('takes %s for draft-04', (_, schema) => {
    expect(draftOf(schema)).toBe('draft-04')
  })

  it.each<[string, JsonObject]>([
    ['const', { properties: { a: { const: 1 } } }],
    ['numeric bounds', { properties: { a: { exclusiveMinimum: 1 } } }],
    ['a condition', { if: { type: 'object' }, else: {} }],
    ['a boolean schema', { properties: { a: true } }],
    ['$defs', { $defs: { a: {} } }],
    ['a word deep inside', { anyOf: [{ items: { not: { propertyNames: {} } } }] }],
  ])('takes %s for 2020-12', (_, schema) => {
    expect(draftOf(schema)).toBe('2020-12')
  })

  it('takes a mixture of old and new words for draft-07, which means both', () => {
    expect(draftOf({ items: [{ const: 1 }] })).toBe('draft-07')
    expect(draftOf({ dependencies: { a: ['b'] }, const: 1 })).toBe('draft-07')
  })
})

describe('withDraft', () => {
  it('puts the draft first, and only where it is missing', () => {
    expect(Object.entries(withDraft({ type: 'object' }))[0]).toEqual(['$schema', draftUri['draft-04']])
    expect(withDraft({ $schema: undefined, const: 1 })).toEqual({ $schema: draftUri['2020-12'], const: 1 })
    const given = { $schema: 'anything' }
    expect(withDraft(given)).toBe(given)
  })
})
