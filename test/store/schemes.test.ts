import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { openStore } from '../../src/running/open-store.ts'
import { isStoreUrl } from '../../src/settings/store-url.ts'
import { adapters, findAdapter, storeForms } from '../../src/store/schemes.ts'
import { testFolder } from './sqlite-drivers.ts'

const root = join(import.meta.dirname, '..', '..')

describe('the table of stores', () => {
  it('has a row for each adapter, and its package is an optional one of ours', () => {
    const folders = readdirSync(join(root, 'src', 'store'), { withFileTypes: true }).filter(entry =>
      entry.isDirectory(),
    )
    const names = adapters.map(({ schemes }) => schemes[0]?.replace(':', ''))
    expect(names.sort()).toEqual(folders.map(({ name }) => name).sort())
    const { peerDependencies = {}, optionalDependencies = {} } = JSON.parse(
      readFileSync(join(root, 'package.json'), 'utf8'),
    )
    const packages = adapters.flatMap(adapter => adapter.package ?? [])
    expect(Object.keys({ ...peerDependencies, ...optionalDependencies })).toEqual(expect.arrayContaining(packages))
  })

  it.each([
    ['memory:', 'memory:'],
    ['sqlite:purser.db', 'sqlite:<file>'],
    ['sqlite:///var/purser.db', 'sqlite:<file>'],
    ['postgres://db/purser', 'postgres://…'],
    ['postgresql://db/purser', 'postgres://…'],
    ['mongodb://db/purser', 'mongodb://…'],
    ['mongodb+srv://db/purser', 'mongodb://…'],
    ['memory:x', undefined],
    ['sqlite:', undefined],
    ['sqlite::memory:', undefined],
    ['postgres:db', undefined],
    ['mysql://db/purser', undefined],
    ['', undefined],
  ])('%s', (url, form) => {
    expect(findAdapter(url)?.form).toBe(form)
    expect(isStoreUrl(url)).toBe(form !== undefined)
  })

  it('opens the store, and shows nothing of a URL that it does not know but its scheme', async () => {
    const store = await openStore(`sqlite:${join(testFolder(), 'ledger.db')}`, systemClock)
    await store.ping()
    await store.close()
    const opening = openStore('mysql://user:hunter2@db/purser', systemClock)
    await expect(opening).rejects.toThrow(`no store can be opened by this mysql: URL: write ${storeForms}`)
    await expect(opening).rejects.not.toThrow(/hunter2/)
  })
})
