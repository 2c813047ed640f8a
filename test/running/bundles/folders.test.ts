import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { observeLines } from '../../../src/observer/log.ts'
import { hashFolder } from '../../../src/registry/hash-folder.ts'
import { createBundleFolders } from '../../../src/running/bundles/folders.ts'

let base = ''
const warnings: string[] = []
const observer = observeLines('warn', ({ text }) => warnings.push(text))

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'purser-folders-'))
  warnings.length = 0
  mkdirSync(join(base, 'db', 'lib'), { recursive: true })
  writeFileSync(join(base, 'db', 'entrypoint.sh'), '#!/bin/sh\necho one\n', { mode: 0o700 })
  writeFileSync(join(base, 'db', 'lib', 'data'), 'x', { mode: 0o600 })
  symlinkSync('lib/data', join(base, 'db', 'link'))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

async function revisionNow() {
  const image = join(base, 'db')
  const { digest } = await hashFolder(image, [])
  return { fullName: 'local-db', image, digest }
}

function open() {
  return createBundleFolders(join(base, 'run'), observer)
}

describe('copies of bundles in folders', () => {
  it('stay as they were, whoever edits the folder', async () => {
    const folders = open()
    const first = await revisionNow()
    await folders.keepFolders([first])
    writeFileSync(join(base, 'db', 'entrypoint.sh'), '#!/bin/sh\necho two\n')
    const second = await revisionNow()
    const [before, after] = [await folders.folderOf(first), await folders.folderOf(second)]
    expect(readFileSync(join(before, 'entrypoint.sh'), 'utf8')).toContain('one')
    expect(readFileSync(join(after, 'entrypoint.sh'), 'utf8')).toContain('two')
    expect(readFileSync(join(before, 'link'), 'utf8')).toBe('x')
    rmSync(join(base, 'db'), { recursive: true })
    expect(await open().folderOf(first)).toBe(before)
    expect(warnings).toEqual([])
  })

  it('are made anew where something has written to them', async () => {
    const revision = await revisionNow()
    const copy = await open().folderOf(revision)
    const program = join(copy, 'entrypoint.sh')
    chmodSync(program, 0o700)
    writeFileSync(program, '#!/bin/sh\necho stolen\n')
    expect(await open().folderOf(revision)).toBe(copy)
    expect(readFileSync(program, 'utf8')).toContain('one')
    writeFileSync(join(copy, 'more'), '')
    await open().folderOf(revision)
    expect(existsSync(join(copy, 'more'))).toBe(false)
    expect(readdirSync(join(base, 'run', 'revisions'))).toHaveLength(1)
  })

  it('that something has written to are never run, also where they cannot be made anew', async () => {
    const revision = await revisionNow()
    const copy = await open().folderOf(revision)
    writeFileSync(join(copy, 'more'), '')
    writeFileSync(join(base, 'db', 'entrypoint.sh'), '#!/bin/sh\necho two\n')
    expect(await open().folderOf(revision)).toBe(revision.image)
    expect(existsSync(copy)).toBe(false)
  })

  it('can be read and run by the user of bundles, and are those that were asked for', async () => {
    const first = await revisionNow()
    const copy = await open().folderOf(first)
    const { digest } = await hashFolder(copy, [])
    expect(digest).toBe(first.digest)
    const modes = readdirSync(copy, { recursive: true, encoding: 'utf8' }).toSorted()
    expect(modes).toEqual(['entrypoint.sh', 'lib', 'lib/data', 'link'])
    expect(modesOf(copy, 'entrypoint.sh', 'lib', 'lib/data')).toEqual(['555', '755', '444'])
  })

  it('do not have what runs by the author left, which may be secret', async () => {
    const before = await revisionNow()
    writeFileSync(join(base, 'db', '.bundle-run.json'), '{"password":"x"}', { mode: 0o600 })
    expect((await revisionNow()).digest).toBe(before.digest)
    expect(readdirSync(await open().folderOf(before))).not.toContain('.bundle-run.json')
  })

  it('are made once, also where many ask at the same time', async () => {
    const revision = await revisionNow()
    const [one, other] = [open(), open()]
    const made = await Promise.all([one, other, one, other].map(folders => folders.keepFolders([revision])))
    expect(made).toHaveLength(4)
    expect(readdirSync(join(base, 'run', 'revisions'))).toEqual([revision.digest.replace('sha256:', '')])
    expect(warnings).toEqual([])
  })

  it('are not made of something else: then the folder itself is run, and that is told', async () => {
    const revision = await revisionNow()
    writeFileSync(join(base, 'db', 'lib', 'data'), 'y')
    expect(await open().folderOf(revision)).toBe(join(base, 'db'))
    expect(readdirSync(join(base, 'run', 'revisions'))).toEqual([])
    expect(warnings).toEqual([expect.stringContaining('no copy was kept')])
  })

  it('that cannot be made are not a reason to stop', async () => {
    const revision = await revisionNow()
    rmSync(join(base, 'db'), { recursive: true })
    await open().keepFolders([revision])
    expect(warnings).toEqual([expect.stringContaining('cannot be copied')])
  })

  it('are removed when no revision needs them', async () => {
    const folders = open()
    await folders.deleteUnusedFolders(new Set())
    const first = await revisionNow()
    await folders.keepFolders([first])
    chmodSync(join(base, 'db', 'lib', 'data'), 0o700)
    const second = await revisionNow()
    await folders.keepFolders([first, second])
    writeFileSync(join(base, 'run', 'revisions', '.new-other'), '')
    await folders.deleteUnusedFolders(new Set([second.digest]))
    expect(readdirSync(join(base, 'run', 'revisions')).toSorted()).toEqual([
      '.new-other',
      second.digest.replace('sha256:', ''),
    ])
    expect(existsSync(await folders.folderOf(second))).toBe(true)
  })
})

function modesOf(folder: string, ...names: readonly string[]): string[] {
  return names.map(name => (statSync(join(folder, name)).mode & 0o777).toString(8))
}
