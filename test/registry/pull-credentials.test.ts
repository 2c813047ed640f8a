import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { registryFor } from './settings-for.ts'

const user = { username: 'reader', password: 's3cret-pass' }
const secrets = { read: async (name: string) => (name === 'ours' ? user : undefined) }
const { signal } = new AbortController()
const registry = { type: 'oci', url: 'https://r.example', org: 'o', runner: 'r', path: '/srv' }
const inline = { user: user.username, pass: user.password }

describe('the credentials for pulling images', () => {
  let folder = ''
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'purser-pull-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const pull = (entry: Readonly<Record<string, unknown>>) =>
    registryFor({ ...registry, ...entry }, { secrets }).pullCredentials?.(signal)

  it('are those of the registry, inline, from a secret, or from a file as it is now', async () => {
    expect(await pull(inline)).toEqual(user)
    expect(await pull({ auth_type: 'secret', auth_name: 'ours' })).toEqual(user)
    const path = join(folder, 'auth.yml')
    for (const password of ['first', 'second']) {
      writeFileSync(path, `username: reader\npassword: ${password}\n`)
      expect(await pull({ auth_type: 'file', auth_name: path })).toEqual({ username: 'reader', password })
    }
  })

  it('are none where there are none', async () => {
    expect(await pull({})).toBeUndefined()
    expect(await pull({ token: 't' })).toBeUndefined()
  })

  it('are a token under the name that Quay has for it, where there is no user', async () => {
    const token = 'quay-token'
    expect(await pull({ type: 'quay', token })).toEqual({ username: '$oauthtoken', password: token })
    expect(await pull({ type: 'quay', token, ...inline })).toEqual(user)
  })

  it.each(['directory', 'helm', 'http'])('are none for a registry of type %s: it has no images', async type => {
    expect(await pull({ type, ...inline })).toBeUndefined()
  })

  it('are missed aloud, without what is in them', async () => {
    await expect(pull({ auth_type: 'secret', auth_name: 'theirs' })).rejects.toThrow('there is no secret "theirs"')
    await expect(pull({ auth_type: 'file', auth_name: join(folder, 'gone') })).rejects.toThrow('ENOENT')
  })
})
