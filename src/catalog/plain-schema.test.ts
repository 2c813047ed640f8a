import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { JsonObject } from '../protocol/json.ts'
import { compileSchema } from './compile-schema.ts'
import { drafts, draftUri } from './json-schema-draft.ts'
import { isPlainSchema } from './plain-schema.ts'

const words =
  'title description default type enum properties required additionalProperties minProperties maxProperties items minItems maxItems uniqueItems minimum maximum minLength maxLength pattern allOf anyOf oneOf format $ref id const'.split(
    ' ',
  )

/** Right and wrong values of all kinds: what each word takes is for the drafts to say. */
const { schema } = fc.letrec<{ schema: JsonObject; value: unknown }>(tie => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<unknown>('object', 'string', 'null', 'thing', '^a\\-b$', '(', '', -1, 0, 2, 2.5, true, null, '#/x'),
    fc.constantFrom<unknown>([], {}, ['object', 'null'], ['string', 'string'], ['thing'], ['a', 1], [null], [{}]),
    tie('schema'),
    fc.array(tie('schema'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('a', 'type', '__proto__'), tie('schema'), { maxKeys: 2 }),
  ),
  schema: fc.dictionary(fc.constantFrom(...words), tie('value'), { maxKeys: 3 }) as fc.Arbitrary<JsonObject>,
}))

describe('a plain schema', () => {
  it('is valid in every draft', async () => {
    let plain = 0
    await fc.assert(
      fc.asyncProperty(schema, fc.constantFrom(...drafts), async (schema, draft) => {
        if (!isPlainSchema(schema)) return
        plain += 1
        await compileSchema({ ...schema, $schema: draftUri[draft] })
      }),
      { numRuns: 3_000 },
    )
    expect(plain).toBeGreaterThan(300)
  })

  it('has the words that most schemas are made of', () => {
    const size = { type: 'integer', minimum: 1, maximum: 10, default: 1, description: 'in GB' }
    const names = { type: 'array', items: { type: 'string', pattern: '^[a-z]+$', maxLength: 60 }, uniqueItems: true }
    const properties = { size, names, tier: { enum: ['small', 'large'] }, any: {} }
    const parameters = { type: 'object', properties, required: ['size'], additionalProperties: false }
    expect(isPlainSchema({ $schema: draftUri['draft-04'], ...parameters })).toBe(true)
    expect(isPlainSchema({ pattern: '(' })).toBe(false)
  })
})

describe('the compiler', () => {
  afterEach(() => {
    vi.doUnmock('ajv-draft-04')
    vi.resetModules()
  })

  it('is loaded when a plain schema is first used, and for any other when it is checked', async () => {
    const loaded = vi.fn()
    vi.resetModules()
    vi.doMock('ajv-draft-04', async load => {
      loaded()
      return { default: await load() }
    })
    const { createParameterSchema, checkSource } = await import('./parameters.ts')
    const plain = { type: 'object', properties: { size: { type: 'integer', default: 3 } } }
    await checkSource(plain)
    expect(loaded).not.toHaveBeenCalled()
    await expect(createParameterSchema(plain).check({})).resolves.toEqual({ ok: true, value: { size: 3 } })
    expect(loaded).toHaveBeenCalledOnce()
    await expect(checkSource({ type: 'thing' })).rejects.toThrow('schema is invalid')
  })
})
