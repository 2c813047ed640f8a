/** Images as people build and push them, not as tests make them up. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RegistryServer, startRegistry, whyNoRegistry } from './docker-registry.ts'
import { labelsOf, specText } from './push.ts'
import { ask, registryFor } from './settings-for.ts'

const reason =
  whyNoRegistry() ?? whyNoRegistry('buildah') ?? (process.getuid?.() === 0 ? undefined : 'building needs root')
const user = { username: 'reader', password: 's3cret-pass' }
/** Of the password above. */
const htpasswd = 'reader:$2y$05$abcdefghijklmnopqrstuuV7fpPozvyqJfnY19y0802WTlXUm6Rjy\n'

describe.skipIf(reason !== undefined)(`images built by buildah${reason === undefined ? '' : ` (${reason})`}`, () => {
  let folder = ''
  let server: RegistryServer
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'purser-built-'))
    server = await startRegistry({ htpasswd })
  })
  afterAll(async () => {
    await server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const buildah = async (...args: string[]) => {
    const place = ['--root', join(folder, 'root'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs']
    return (await promisify(execFile)('buildah', [...place, ...args])).stdout.trim()
  }
  /** Answers the digest under which the registry has it. */
  const publish = async (name: string, version: string, format: 'oci' | 'docker') => {
    const labels = labelsOf(specText(version), { 'com.redhat.apb.runtime': '2' })
    const lines = Object.entries(labels).map(([key, value]) => `LABEL ${key}="${value}"\n`)
    writeFileSync(join(folder, 'version'), version)
    writeFileSync(
      join(folder, 'Containerfile'),
      `FROM scratch\nCOPY version /version\nENTRYPOINT ["/version"]\n${lines.join('')}`,
    )
    const image = await buildah('bud', '--isolation', 'chroot', '--quiet', '--format', format, folder)
    const digest = join(folder, 'digest')
    const login = ['--tls-verify=false', '--creds', `${user.username}:${user.password}`]
    await buildah('push', ...login, '--digestfile', digest, image, `docker://${host()}/${name}:latest`)
    return readFileSync(digest, 'utf8').trim()
  }
  const host = () => `127.0.0.1:${server.port}`
  const entry = () => ({ type: 'oci', url: `http://${host()}`, user: user.username, pass: user.password })

  it.each(['oci', 'docker'] as const)(
    'are bundles by their labels, and are pulled as they were read: %s',
    async format => {
      const name = `team/${format}`
      const list = async () => {
        const answer = await ask({ ...entry(), white_list: [`^${name}$`] })
        expect(answer).toMatchObject({ kind: 'complete', problems: [] })
        return answer.kind === 'failed' ? undefined : answer.found[0]
      }
      const credentials = await registryFor(entry()).pullCredentials?.(new AbortController().signal)
      const login = ['--tls-verify=false', '--creds', `${credentials?.username}:${credentials?.password}`]
      const contentOf = async (image = '') => {
        const container = await buildah('from', '--pull-always', ...login, image)
        return readFileSync(join(await buildah('mount', container), 'version'), 'utf8')
      }

      const digest = await publish(name, 'first', format)
      const first = await list()
      expect(first).toEqual({
        name,
        image: `${host()}/${name}@${digest}`,
        tag: 'latest',
        digest,
        source: specText('first'),
        runtime: 2,
      })
      await publish(name, 'second', format)
      const second = await list()
      expect(second).toMatchObject({ tag: 'latest', source: specText('second') })
      // The tag has moved on, and what was read before is still what is run.
      expect(await contentOf(first?.image)).toBe('first')
      expect(await contentOf(second?.image)).toBe('second')
    },
  )
})
