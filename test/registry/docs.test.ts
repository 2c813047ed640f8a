import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { renderRegistrySettings } from '../../scripts/render-settings.ts'
import { parseBundleSpec } from '../../src/bundle/spec.ts'
import { readSpecList } from '../../src/registry/http.ts'
import { registryTypes } from '../../src/registry/types.ts'
import { describe as describeShape } from '../../src/shape/describe.ts'
import { blocksOf, readPage, rowsUnder } from '../docs/pages.ts'
import { readSection } from './settings-for.ts'

const page = 'docs/reference/registries.md'
const blocks = blocksOf(page)
const codeIn = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(match => match[1] ?? '')

describe(page, () => {
  const examples = blocks.filter(({ language }) => language === 'yaml')

  it('has examples of every kind that is read here', () => {
    expect(examples.length).toBeGreaterThan(3)
    expect(blocks.map(({ language }) => language)).toContain('json')
    expect(blocks.filter(({ language }) => !['yaml', 'json'].includes(language))).toEqual([])
  })

  it.each(examples)('line $line is a section without a mistake', ({ text }) => {
    const { registries, registry, ...rest } = parse(text)
    expect(rest).toEqual({})
    const { settings, problems } = readSection(registries ?? registry, '/etc')
    expect(problems).toEqual([])
    expect(settings?.length).toBeGreaterThan(0)
  })

  it('shows a list that is one, of specs that can be used', () => {
    for (const { text } of blocks.filter(({ language }) => language === 'json'))
      for (const { name, image, source } of readSpecList(text)) {
        expect([name, image]).not.toContain(undefined)
        expect(parseBundleSpec(source(), 'x').problems).toEqual([])
      }
  })

  it('lists every type with its other names, and no other', () => {
    const listed = rowsUnder(page, 'Types').filter(row => row.length === 4 && row[3] !== '')
    const aliases = Object.fromEntries(
      listed.slice(0, registryTypes.length).map(([type, others]) => [codeIn(type)[0] ?? '', codeIn(others)]),
    )
    expect(aliases).toEqual(Object.fromEntries(registryTypes.map(({ name, aliases: others = [] }) => [name, others])))
  })

  it('has its keys from the settings: if not, run `npm run configuration:reference`', () => {
    expect(readPage(page)).toBe(renderRegistrySettings(readPage(page)))
    const silent = registryTypes.flatMap(({ shape }) =>
      [...(describeShape(shape).fields ?? [])].filter(([, { info }]) => info.doc === undefined),
    )
    expect(silent).toEqual([])
  })

  it('is in the index', () => {
    expect(readPage('README.md')).toContain(`(${page})`)
  })
})
