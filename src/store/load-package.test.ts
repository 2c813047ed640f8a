import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadPackage } from './load-package.ts'
import { loadLibsqlDriver } from './sqlite/driver.ts'

describe('loadPackage', () => {
  it('answers the library', async () => {
    expect(await loadPackage<{ join: unknown }>('node:path')).toHaveProperty('join')
  })

  it('answers nothing where the package is not installed', async () => {
    expect(await loadPackage('purser-no-such-package')).toBeUndefined()
  })

  it('says that a package is broken, and how, where it is installed and cannot be loaded', async () => {
    const broken = installed('native', 'throw new Error("native.node: wrong ELF class\\nmore")')
    await expect(loadPackage('native', broken)).rejects.toMatchObject({
      name: 'StoreOpenError',
      failure: 'broken-driver',
      message: expect.stringMatching(
        /native is installed and cannot be loaded \(native\.node: wrong ELF class\): .*rebuild/,
      ),
      cause: expect.objectContaining({ message: expect.stringContaining('wrong ELF class') }),
    })
  })

  it('does not take a part that is missing for the package itself', async () => {
    const broken = installed('libsql', `import 'purser-native-part'`)
    await expect(loadPackage('libsql', broken)).rejects.toMatchObject({
      failure: 'broken-driver',
      message: expect.stringContaining("Cannot find package 'purser-native-part'"),
    })
  })

  it('is how the driver of SQLite is loaded', async () => {
    const broken = installed('libsql', `throw new Error('invalid ELF header')`)
    await expect(loadLibsqlDriver(broken)).rejects.toThrow(
      /libsql is installed and cannot be loaded \(invalid ELF header\)/,
    )
  })
})

/** Loads a package of that name with that code, from a folder of its own, as Node does. */
function installed(name: string, code: string): () => Promise<unknown> {
  const folder = mkdtempSync(join(tmpdir(), 'purser-package-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const home = join(folder, 'node_modules', name)
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, 'package.json'), JSON.stringify({ name, type: 'module', exports: './index.js' }))
  writeFileSync(join(home, 'index.js'), code)
  const entry = join(folder, 'entry.mjs')
  writeFileSync(entry, `export const load = () => import('${name}')`)
  return async () => {
    const { load } = await import(/* @vite-ignore */ pathToFileURL(entry).href)
    return load()
  }
}
