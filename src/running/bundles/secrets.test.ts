import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createSecretFolder, createSecretReader } from './secrets.ts'

const folder = mkdtempSync(join(tmpdir(), 'purser-secrets-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function readerOf(...secrets: readonly (readonly [bundle: string, file: string])[]) {
  const files = secrets.map(([bundle, file]) => ({ bundle, file: join(folder, file) }))
  return createSecretReader(files, createSecretFolder(folder))
}

describe('secrets of a bundle', () => {
  it('are the entries of all its files, as they are at that moment', async () => {
    writeFileSync(join(folder, 'a.yaml'), 'user: app\npassword: first\n')
    writeFileSync(join(folder, 'b.json'), '{"password": "second", "port": 5432}')
    const read = readerOf(['dh-a', 'a.yaml'], ['dh-a', 'b.json'], ['dh-b', 'a.yaml'])
    const [a, b] = await read('dh-a')
    expect(a).toEqual({ name: 'a', entries: { user: 'app', password: 'first' } })
    expect(b).toEqual({ name: 'b', entries: { password: 'second', port: 5432 } })
    expect(await read('dh-b')).toEqual([a])
    expect(await read('dh-c')).toEqual([])
    writeFileSync(join(folder, 'a.yaml'), 'user: other\n')
    expect(await read('dh-b')).toEqual([{ name: 'a', entries: { user: 'other' } }])
  })

  it.each([
    ['none.yaml', undefined, /none\.yaml cannot be read \(ENOENT\)/],
    ['list.yaml', '- secret-1\n', /list\.yaml is not a map/],
    ['broken.yaml', 'password: "secret-1\n', /broken\.yaml is not a map/],
  ])('that cannot be read are named, and not shown: %s', async (file, text, problem) => {
    if (text !== undefined) writeFileSync(join(folder, file), text)
    const failed = readerOf(['dh-a', file])('dh-a')
    await expect(failed).rejects.toThrow(problem)
    await expect(failed).rejects.not.toThrow(/secret-1/)
  })

  it('may be folders, as Kubernetes mounts a Secret', async () => {
    // The entries are links into a folder that is replaced as a whole.
    const mounted = join(folder, 'server')
    mkdirSync(join(mounted, '..2026'), { recursive: true })
    writeFileSync(join(mounted, '..2026', 'password'), 'sesame\n')
    symlinkSync('..2026', join(mounted, '..data'))
    symlinkSync(join('..data', 'password'), join(mounted, 'password'))
    const read = createSecretReader([{ bundle: 'dh-a', secret: 'server' }], createSecretFolder(folder))
    expect(await read('dh-a')).toEqual([{ name: 'server', entries: { password: 'sesame' } }])
    const other = (secret: string) => createSecretReader([{ bundle: 'dh-a', secret }], createSecretFolder(folder))
    await expect(other('none')('dh-a')).rejects.toThrow('there is no secret "none" in bundles.secretsFolder')
    await expect(other('../server')('dh-a')).rejects.toThrow('there is no secret')
  })
})
