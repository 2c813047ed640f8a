import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { allSections, listedSections, renderSettings } from '../../scripts/render-settings.ts'
import { configShape } from '../../src/settings/config.ts'
import { listFields } from '../../src/shape/describe.ts'

const page = readFileSync(new URL('../../docs/reference/configuration.md', import.meta.url), 'utf8')

describe('docs/reference/configuration.md', () => {
  it('is made from the settings: if not, run `npm run configuration:reference`', () => {
    expect(page).toBe(renderSettings(page))
  })

  it('has every section once', () => {
    expect(listedSections(page).toSorted()).toEqual(allSections().toSorted())
  })

  it('says what each setting means', () => {
    const silent = listFields(configShape).filter(({ described: { info } }) => info.doc === undefined)
    expect(silent.map(({ path }) => path.join('.'))).toEqual([])
  })
})
