import { describe, expect, it } from 'vitest'
import { checkBundle } from '../../src/bundle/check-bundle.ts'
import { formatMistake } from '../../src/bundle/mistakes.ts'
import { specWith } from './specs.ts'

const check = async (source: unknown) => {
  const { bundle, problems } = await checkBundle(source, { where: 'apb.yml', registry: 'dir' })
  return { bundle, problems: problems.map(formatMistake) }
}

describe('checkBundle', () => {
  it('gives the spec and its offering where nothing is wrong', async () => {
    const { bundle, problems } = await check(specWith())
    expect(problems).toEqual([])
    expect(bundle?.spec.name).toBe('demo-apb')
    expect(bundle?.offering.name).toBe('dir-demo-apb')
  })

  it('finds what is wrong with a schema of the author, at its line', async () => {
    const { bundle, problems } = await check(`version: 1.0
name: s
description: S
flavour: none
plans:
  - name: a
    description: A
    parameters:
      type: object
      properties: {size: {type: big}}
  - name: b
    description: B
    bindable: true
    bind_parameters: {type: object, required: role}
`)
    expect(bundle).toBeUndefined()
    expect(problems).toHaveLength(3)
    expect(problems[0]).toMatch(/^apb\.yml:4: flavour: warning: /)
    expect(problems[1]).toMatch(/^apb\.yml:8: plans\[0\]\.parameters: error: .*not a valid JSON Schema/)
    expect(problems.at(-1)).toMatch(/^apb\.yml:14: plans\[1\]\.bind_parameters: error: .*not a valid JSON Schema/)
  })

  it('finds a default that its own schema refuses', async () => {
    const parameters = { type: 'object', properties: { n: { type: 'integer', default: 'five' } }, required: ['m'] }
    const { bundle, problems } = await check(specWith({}, { parameters }))
    expect(bundle).toBeUndefined()
    expect(problems).toEqual([
      'apb.yml: plans[0].parameters: error: the default of n breaks its own schema; correct one of them',
    ])
  })

  it('takes a sound schema with required fields and defaults', async () => {
    const parameters = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { n: { type: 'integer', default: 5, updatable: true }, m: { type: 'string' } },
      required: ['m'],
      if: { properties: { n: { const: 5 } } },
      // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
      then: { properties: { m: { minLength: 2 } } },
    }
    const { bundle, problems } = await check(specWith({}, { parameters }))
    expect(problems).toEqual([])
    expect(bundle).toBeDefined()
  })

  it('says no more than the parser where the spec is broken', async () => {
    expect(await check('name: [')).toEqual({ problems: [expect.stringContaining('not valid YAML')] })
  })
})
