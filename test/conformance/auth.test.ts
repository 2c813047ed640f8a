import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, expect } from 'vitest'
import { createBasicAuthenticator } from '../../src/authenticator/basic.ts'
import { hashPassword } from '../../src/authenticator/password.ts'
import type { Authenticator } from '../../src/authenticator.ts'
import { listen, type TlsFiles } from '../../src/http/node.ts'
import { conformance, type Platform, requirement } from './harness.ts'
import { another, bound, endpoints, provisioned } from './helpers.ts'
import { createServices, full, org } from './services.ts'

const folder = mkdtempSync(join(tmpdir(), 'purser-auth-'))
const at = (name: string) => join(folder, name)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const platformRole = { roles: ['platform'] } as const
const alice = { username: 'alice', password: 'pä:ss:wörd', platform: 'one', ...platformRole }
const bob = { username: 'bob', password: 'correct horse', platform: 'two', ...platformRole }
const operator = { username: 'olga', password: 'only looks', platform: 'none', roles: ['operator'] as const }

const basic = (userAndPassword: string) => `Basic ${Buffer.from(userAndPassword, 'utf8').toString('base64')}`

/** The same services behind credentials. */
function guarded(t: Platform, authenticator: Authenticator = createBasicAuthenticator([alice, bob, operator])) {
  return another(t, { services: createServices(t.backend), authenticator })
}

conformance('Authentication', () => {
  requirement('AUTH-01', 'the broker speaks TLS and asks for credentials on it', async t => {
    const closed = await guarded(t)
    const tls = makeCertificate('self')
    await overTls(closed, tls, async url => {
      const refused = await get(url, tls.cert, {})
      expect([refused.status, refused.body.services]).toEqual([401, undefined])
      const answer = await get(url, tls.cert, { authorization: basic('alice:pä:ss:wörd') })
      expect(answer.status).toBe(200)
      expect(answer.body.services?.length).toBeGreaterThan(0)
    })
  })

  requirement('AUTH-01', 'plain traffic without credentials is served where nothing else was configured', async t => {
    expect((await t.client.catalog()).status).toBe(200)
  })

  requirement(
    'AUTH-02',
    'a self-signed certificate and one of a CA are both served; a stranger to them leaves',
    async t => {
      const ca = makeCertificate('ca')
      for (const tls of [makeCertificate('self'), makeCertificate('signed', ca)]) {
        const trusted = tls.cert === at('signed.crt') ? ca.cert : tls.cert
        await overTls(t, tls, async url => {
          expect((await get(url, trusted, {})).status).toBe(200)
          await expect(get(url, makeCertificate('stranger').cert, {})).rejects.toThrow(/certificate/i)
        })
      }
    },
  )

  requirement('AUTH-04', 'another mechanism can be agreed on, such as a bearer token', async t => {
    const closed = await guarded(t, {
      scheme: 'bearer',
      challenge: 'Bearer',
      async authenticate({ headers: { authorization } }) {
        const principal = { name: 'cluster', platform: 'k8s', roles: ['platform'] } as const
        return authorization === 'Bearer t0ken' ? principal : undefined
      },
    })
    const refused = await closed.createClient({ token: 'wrong' }).catalog()
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([401, 'Bearer'])
    const client = closed.createClient({ token: 't0ken' })
    expect((await client.provision('i', { ...full, ...org })).status).toBe(201)
    expect((await closed.store.instance('i'))?.platform).toBe('k8s')
  })

  requirement('AUTH-05', 'every request of every endpoint is checked, also after one that was right', async t => {
    const closed = await guarded(t)
    const right = { authorization: basic('alice:pä:ss:wörd') }
    const client = closed.createClient(alice)
    expect((await client.provision('i', { ...full, ...org })).status).toBe(201)
    expect((await client.bind('i', 'b', full)).status).toBe(201)
    const before = [...t.backend.done]
    for (const authorization of [undefined, basic('alice:wrong'), basic('nobody:x'), basic('olga:only looks'), 'Basic'])
      for (const [method, path, body] of endpoints) {
        const answer = await closed.request(method, path, { headers: { authorization }, body })
        expect([path, authorization, answer.status]).toEqual([path, authorization, 401])
      }
    expect(t.backend.done).toEqual(before)
    for (const [method, path, body] of endpoints)
      expect((await closed.request(method, path, { headers: right, body })).status).not.toBe(401)
    expect(t.backend.done.length).toBeGreaterThan(before.length)
  })

  requirement(
    'AUTH-06',
    'wrong or missing credentials are answered 401 with a challenge and an error body',
    async t => {
      const closed = await guarded(t)
      for (const options of [{}, { ...alice, password: 'guess' }, { username: 'eve', password: alice.password }]) {
        const answer = await closed.createClient(options).catalog()
        expect(answer.status).toBe(401)
        expect(answer.headers['www-authenticate']).toMatch(/^Basic realm=/)
        expect(answer.body).toEqual({ error: 'Unauthorized', description: expect.stringMatching(/\w/) })
      }
    },
  )

  requirement('AUTH-07', '401 comes before version, path, body and any lookup, and is the same for all', async t => {
    const closed = await guarded(t)
    await closed.createClient(alice).provision('i', { ...full, ...org })
    const hidden = [
      await closed.request('GET', '/v2/service_instances/i'),
      await closed.request('GET', '/v2/service_instances/nobody'),
      await closed.request('PUT', '/v2/service_instances/%zz', { body: 'no json' }),
      await closed.request('GET', '/v2/nothing', { headers: { 'x-broker-api-version': undefined } }),
      await closed.request('PUT', '/v2/service_instances/i', { headers: { 'content-type': 'text/plain' }, body: 'x' }),
    ]
    expect(new Set(hidden.map(answer => `${answer.status} ${answer.text}`)).size).toBe(1)
    expect(hidden[0]?.status).toBe(401)

    const touched: string[] = []
    closed.store.instance = async () => void touched.push('instance')
    const answer = await closed.handle({
      method: 'PUT',
      url: '/v2/service_instances/i',
      headers: { 'x-broker-api-version': '2.17', authorization: basic('alice:wrong') },
      encrypted: false,
      async body() {
        touched.push('body')
        return new Uint8Array()
      },
    })
    expect([answer.status, touched]).toEqual([401, []])
  })

  requirement('AUTH-07', 'a password may hold colons and any letters, plain or hashed', async t => {
    const carol = { username: 'carol', passwordHash: await hashPassword('::ключ:'), platform: 'three', ...platformRole }
    const closed = await guarded(t, createBasicAuthenticator([alice, carol]))
    for (const right of ['alice:pä:ss:wörd', 'alice:pa\u0308:ss:wörd', 'carol:::ключ:'])
      expect((await closed.request('GET', '/v2/catalog', { headers: { authorization: basic(right) } })).status).toBe(
        200,
      )
    for (const wrong of ['alice:pä', 'alice', 'alice:', 'carol:ключ', 'carol::ключ:', ':'])
      expect((await closed.request('GET', '/v2/catalog', { headers: { authorization: basic(wrong) } })).status).toBe(
        401,
      )
  })

  requirement('AUTH-08', 'credentials tell platforms apart, and one can be revoked without the other', async t => {
    const both = await guarded(t)
    await both.createClient(alice).provision('i', { ...full, ...org })
    await both.createClient(bob).provision('j', { ...full, ...org })
    expect((await both.store.instance('i'))?.platform).toBe('one')
    expect((await both.store.instance('j'))?.platform).toBe('two')
    await both.stop()
    const { store, clock } = both
    const one = await another(t, {
      services: createServices(t.backend),
      authenticator: createBasicAuthenticator([bob]),
      store,
      clock,
    })
    expect((await one.createClient(alice).fetchInstance('i')).status).toBe(401)
    expect((await one.createClient(bob).fetchInstance('j')).status).toBe(200)
    expect((await one.createClient(bob).fetchInstance('i')).status).toBe(404)
  })

  requirement('DASH-02', 'the secret of a dashboard client is shown to those with credentials only', async t => {
    const closed = await guarded(t)
    const refused = await closed.client.catalog()
    expect(refused.status).toBe(401)
    expect(refused.text).not.toContain('dash-secret')
    const { body } = await closed.createClient(alice).catalog()
    expect(body.services?.find(service => service.id === 'client')?.dashboard_client).toMatchObject({
      secret: 'dash-secret',
    })
    await provisioned(t)
    await bound(t)
    expect((await t.client.fetchInstance('i')).text + (await t.client.fetchBinding('i', 'b')).text).not.toContain(
      'dash-secret',
    )
  })
})

/** Self-signed, or signed by `ca`. */
function makeCertificate(name: string, ca?: TlsFiles): TlsFiles {
  const made = { cert: at(`${name}.crt`), key: at(`${name}.key`) }
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2']
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const signed = ca === undefined ? [] : ['-CA', ca.cert, '-CAkey', ca.key]
  const args = ['req', '-x509', ...key, ...subject, ...signed, '-keyout', made.key, '-out', made.cert]
  execFileSync('openssl', args, { stdio: 'ignore' })
  return made
}

async function overTls(t: Platform, tls: TlsFiles, use: (url: string) => Promise<void>): Promise<void> {
  const server = await listen({ app: t.handle, host: '127.0.0.1', port: 0, tls })
  try {
    await use(server.url)
  } finally {
    await server.close(0)
  }
}

function get(url: string, ca: string, headers: Record<string, string>) {
  return new Promise<{ status: number; body: { services?: unknown[] } }>((resolve, reject) => {
    const sent = { 'x-broker-api-version': '2.17', ...headers }
    request(`${url}/v2/catalog`, { ca: readFileSync(ca), agent: false, headers: sent }, response => {
      text(response).then(body => resolve({ status: response.statusCode ?? 0, body: JSON.parse(body) }), reject)
    })
      .on('error', reject)
      .end()
  })
}
