import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { hashPassword } from '../../src/authenticator/password.ts'
import type { BrokerEvents } from '../../src/events.ts'
import { listen } from '../../src/http/node.ts'
import { loadConfig } from '../../src/server/config.ts'
import { followFiles } from '../../src/server/follow-files.ts'
import { openSignIn } from '../../src/server/sign-in.ts'
import { startTestBroker } from '../../src/testing/test-broker.ts'
import { serviceOf } from '../engine/world.ts'
import { type Authority, createAuthority } from './authority.ts'

let authority: Authority
const folder = mkdtempSync(join(tmpdir(), 'purser-reload-'))
const config = join(folder, 'purser.yaml')

beforeAll(() => {
  authority = createAuthority('reload')
  for (const name of ['one', 'two']) authority.issue(name, { subject: `/CN=${name}`, names: 'IP:127.0.0.1' })
})
afterAll(() => {
  authority.remove()
  rmSync(folder, { recursive: true, force: true })
})

/** As an editor, and Kubernetes, do it: at no time is the file half there. */
function write(file: string, text: string | Buffer): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

const yamlOf = (users: string) => `
server: { tls: { cert: tls.crt, key: tls.key } }
auth:
  reloadEvery: 100ms
  basic: ${users}
  jwt: [{ name: ci, issuer: https://ci.example, audience: [purser], keysFile: keys.json, roles: [viewer] }]
`

async function start() {
  const hash = await hashPassword('old')
  const keyPair = await generateKeyPair('ES256', { extractable: true })
  const at = (name: string) => join(folder, name)
  write(at('tls.crt'), readFileSync(authority.at('one.crt')))
  write(at('tls.key'), readFileSync(authority.at('one.key')))
  write(at('keys.json'), '{"keys":[]}')
  write(config, yamlOf(`[{ username: ada, passwordHash: "${hash}", roles: [viewer] }]`))
  const load = () => loadConfig({ env: {}, flags: {}, cwd: folder, terminal: false })
  const loaded = await load()
  const events: (readonly [string, string])[] = []
  const observer = {
    'configuration.reloaded': ({ files }: BrokerEvents['configuration.reloaded']) => events.push(['reloaded', files]),
    'configuration.reloadFailed': ({ error }: BrokerEvents['configuration.reloadFailed']) =>
      events.push(['failed', error.message]),
    'configuration.warning': ({ message }: BrokerEvents['configuration.warning']) => events.push(['warning', message]),
  }
  const signIn = await openSignIn(loaded, observer, () => undefined)
  const broker = await startTestBroker({ services: [serviceOf({})], authenticator: signIn.authenticator, observer: {} })
  const server = await listen({ app: broker.handle, host: '127.0.0.1', port: 0, tls: loaded.server.tls })
  const stopping = new AbortController()
  const following = followFiles({ config: loaded, load, signIn, server, observer, env: {} }, stopping.signal)
  onTestFinished(async () => {
    stopping.abort()
    await following
    await server.close(0)
    await broker.stop()
  })
  const ask = (authorization: string) =>
    new Promise<{ status: number; served: string }>((resolve, reject) => {
      const options = { ca: readFileSync(authority.at('ca.crt')), agent: false, headers: { authorization } } as const
      const sent = request(`${server.url}/admin/me`, options, response => {
        const served = String((response.socket as import('node:tls').TLSSocket).getPeerCertificate().subject.CN)
        response.pipe(new PassThrough()).resume()
        resolve({ status: response.statusCode ?? 0, served })
      })
      sent.on('error', reject).end()
    })
  const login = (password: string, user = 'ada') => ask(`Basic ${btoa(`${user}:${password}`)}`)
  const token = () =>
    new SignJWT({})
      .setProtectedHeader({ alg: 'ES256', kid: 'new' })
      .setIssuer('https://ci.example')
      .setAudience('purser')
      .setSubject('job')
      .setExpirationTime('5m')
      .sign(keyPair.privateKey)
  const publicKeys = async () => JSON.stringify({ keys: [{ ...(await exportJWK(keyPair.publicKey)), kid: 'new' }] })
  const until = (kind: string, text: string | RegExp) =>
    vi.waitFor(() => expect(events).toContainEqual([kind, expect.stringMatching(text)]), { timeout: 60_000 })
  return { at, hash, login, ask, token, publicKeys, events, until }
}

describe('sign-in', () => {
  it('follows its files, keeps what was good where one is broken, and refuses no request meanwhile', async () => {
    const { at, hash, login, ask, token, publicKeys, events, until } = await start()
    expect(await login('old')).toEqual({ status: 200, served: 'one' })
    expect((await ask(`Bearer ${await token()}`)).status).toBe(401)

    // Requests go on all the time, with a password that stays good.
    let isOver = false
    const answers = new Set<number>()
    const steady = (async () => {
      while (!isOver) answers.add((await login('old')).status)
    })()
    onTestFinished(() => {
      isOver = true
    })

    const next = await hashPassword('new')
    const both = `[{ username: ada, passwordHash: "${next}", previousPasswordHash: "${hash}", roles: [viewer] }, { username: bob, passwordHash: "${next}", roles: [viewer] }]`
    write(config, yamlOf(both))
    await until('reloaded', /purser\.yaml/)
    expect((await login('new')).status).toBe(200)
    expect((await login('new', 'bob')).status).toBe(200)

    write(at('keys.json'), await publicKeys())
    await until('reloaded', /keys\.json/)
    expect((await ask(`Bearer ${await token()}`)).status).toBe(200)

    for (const [name, broken, reason] of [
      ['keys.json', '{ "keys": ', /JWKS/],
      ['purser.yaml', 'auth: { basic: [{ username: ada }] }', /exactly one of password/],
      ['purser.yaml', 'auth: {}', /no credentials are configured any more/],
      ['tls.crt', 'noise', /tls\.crt cannot be used/],
    ] as const) {
      const before = readFileSync(at(name))
      const known = events.length
      write(at(name), broken)
      await vi.waitFor(() => expect(events.length).toBeGreaterThan(known), { timeout: 60_000 })
      expect(events[known]).toEqual(['failed', expect.stringMatching(reason)])
      expect((await ask(`Bearer ${await token()}`)).status).toBe(200)
      expect((await login('new')).status).toBe(200)
      const [count] = [events.length]
      write(at(name), before)
      await vi.waitFor(() => expect(events.slice(count)).toContainEqual(['reloaded', expect.stringContaining(name)]), {
        timeout: 60_000,
      })
    }

    write(at('tls.key'), readFileSync(authority.at('two.key')))
    await until('failed', /does not belong/)
    write(at('tls.crt'), readFileSync(authority.at('two.crt')))
    await vi.waitFor(async () => expect((await login('new')).served).toBe('two'), { timeout: 60_000 })

    isOver = true
    await steady
    expect([...answers]).toEqual([200])

    write(config, `${yamlOf(`[{ username: ada, passwordHash: "${next}", roles: [viewer] }]`)}\nengine: { lease: 1m }\n`)
    await until('warning', /after a restart/)
    await vi.waitFor(async () => expect((await login('old')).status).toBe(401), { timeout: 60_000 })
    expect((await login('new', 'bob')).status).toBe(401)
    expect((await login('new')).status).toBe(200)
  }, 180_000)
})
