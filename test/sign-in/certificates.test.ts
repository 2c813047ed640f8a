import { readFileSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createBasicAuthenticator } from '../../src/authenticator/basic.ts'
import { createCertificateAuthenticator } from '../../src/authenticator/certificates.ts'
import { certificateId, readRevoked } from '../../src/authenticator/revoked.ts'
import { readTrusted } from '../../src/authenticator/trusted.ts'
import { type Authenticator, combineAuthenticators, type TlsConnection } from '../../src/authenticator.ts'
import { ListenError, listen } from '../../src/http/node.ts'
import { startTestBroker } from '../../src/testing/test-broker.ts'
import { serviceOf } from '../engine/world.ts'
import { type Authority, createAuthority } from './authority.ts'

let authority: Authority
let other: Authority

beforeAll(() => {
  authority = createAuthority('good')
  other = createAuthority('other')
  authority.issue('server', { subject: '/CN=server', names: 'IP:127.0.0.1' })
  authority.issue('cf', { subject: '/O=platforms/CN=cf' })
  authority.issue('again', { subject: '/O=platforms/CN=cf' })
  authority.issue('k8s', { subject: '/CN=cluster', names: 'URI:spiffe://example/k8s,DNS:k8s.example' })
  authority.issue('nobody', { subject: '/O=platforms/CN=nobody' })
  authority.issue('expired', { subject: '/O=platforms/CN=cf', from: '20240101000000Z', until: '20240201000000Z' })
  authority.issue('future', { subject: '/O=platforms/CN=cf', from: '20990101000000Z', until: '20990201000000Z' })
  // One name that looks like two to whoever splits at commas.
  authority.issue('comma', { subject: '/CN=cf\\,O=platforms' })
  writeFileSync(authority.at('trick.conf'), '')
  other.issue('cf', { subject: '/O=platforms/CN=cf' })
})
afterAll(() => {
  authority.remove()
  other.remove()
})

const rules = [
  { name: 'cf', subject: 'O=platforms,CN=cf', platform: 'cf', roles: ['platform', 'viewer'] as const },
  { name: 'k8s', san: 'URI:spiffe://example/k8s', platform: 'k8s', roles: ['platform'] as const },
]
const basic = createBasicAuthenticator([
  { username: 'ops', password: 'pw', platform: 'default', roles: ['admin', 'platform'] },
])

/** A real server with TLS. `revoke` changes the list, and what counts, as a reload does. */
async function start(clientCertificates: 'optional' | 'required' = 'optional') {
  let ca = authority.at('ca.crt')
  const open = () =>
    createCertificateAuthenticator(rules, { revoked: read(), trusted: readTrusted(readFileSync(ca, 'utf8')) })
  let certificates = open()
  const delegate: Authenticator = {
    scheme: 'certificate',
    authenticate: asked => certificates.authenticate(asked),
    memory: {
      remember: who => certificates.memory?.remember(who) ?? none,
      recall: it => certificates.memory?.recall(it) ?? none,
    },
  }
  const reasons: string[] = []
  const broker = await startTestBroker({
    services: [serviceOf({})],
    authenticator: combineAuthenticators([basic, delegate]),
    observer: { 'authentication.failed': ({ reason }) => reasons.push(reason) },
  })
  const files = {
    cert: authority.at('server.crt'),
    key: authority.at('server.key'),
    ca,
    crl: authority.at('crl.pem'),
    clientCertificates,
  }
  const server = await listen({ app: broker.handle, host: '127.0.0.1', port: 0, tls: files })
  onTestFinished(async () => {
    await server.close(0)
    await broker.stop()
  })
  return {
    reasons,
    server,
    files,
    async reload(changed: { readonly ca?: string } = {}) {
      await server.reloadTls({ ...files, ...changed })
      ca = changed.ca ?? files.ca
      certificates = open()
    },
    get: (client: string | undefined, sent: Sent = {}) => get(server.url, client, sent),
  }
}

const none = Promise.resolve(undefined)
const read = () => readRevoked(readFileSync(authority.at('crl.pem'), 'utf8'))

interface Sent {
  readonly of?: Authority
  readonly path?: string
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly agent?: Agent
}

/** The identity that the broker sees, or the status of its refusal. */
function get(
  url: string,
  client: string | undefined,
  { of = authority, path = '/admin/me', method, headers, agent }: Sent,
) {
  const own = client && { cert: readFileSync(of.at(`${client}.crt`)), key: readFileSync(of.at(`${client}.key`)) }
  const options = { ca: readFileSync(authority.at('ca.crt')), agent: agent ?? false, headers, method, ...own }
  return new Promise<{ status: number; body: string; headers: NodeJS.Dict<string | string[]> }>((resolve, reject) => {
    request(`${url}${path}`, options, response => {
      text(response).then(
        body => resolve({ status: response.statusCode ?? 0, body, headers: response.headers }),
        reject,
      )
    })
      .on('error', reject)
      .end()
  })
}

describe('a client certificate', () => {
  it('says who somebody is, by its subject or by an alternative name, beside those who log in', async () => {
    const { get: ask } = await start()
    expect(JSON.parse((await ask('cf')).body)).toMatchObject({ name: 'cf', platform: 'cf', role: 'viewer' })
    const osb = { path: '/v2/catalog', headers: { 'x-broker-api-version': '2.17' } }
    expect((await ask('k8s', osb)).status).toBe(200)
    const authorization = `Basic ${btoa('ops:pw')}`
    expect(JSON.parse((await ask(undefined, { headers: { authorization } })).body)).toMatchObject({ name: 'ops' })
    // Credentials that are sent say more than the connection, right or wrong.
    expect(JSON.parse((await ask('cf', { headers: { authorization } })).body)).toMatchObject({ name: 'ops' })
    expect((await ask('cf', { headers: { authorization: `Basic ${btoa('ops:wrong')}` } })).status).toBe(401)
  })

  it.each<[string, () => [string | undefined, Sent?], RegExp]>([
    ['none at all', () => [undefined], /no credentials/],
    ['one of another CA', () => ['cf', { of: other }], /not one of server\.tls\.ca/],
    ['one that has expired', () => ['expired'], /not one of server\.tls\.ca/],
    ['one that is not valid yet', () => ['future'], /not one of server\.tls\.ca/],
    ['one that stands for nobody', () => ['nobody'], /nobody in auth\.certificates/],
    ['one whose name holds a comma', () => ['comma'], /nobody in auth\.certificates/],
    [
      'a header that a proxy would set',
      () => [
        undefined,
        {
          headers: {
            'x-forwarded-client-cert': 'Subject="O=platforms,CN=cf"',
            'x-ssl-client-s-dn': 'O=platforms,CN=cf',
            'x-ssl-client-verify': 'SUCCESS',
            'ssl-client-subject-dn': 'O=platforms,CN=cf',
          },
        },
      ],
      /no credentials/,
    ],
  ])('%s is refused', async (_, make, reason) => {
    const { get: ask, reasons } = await start()
    const [client, sent] = make()
    expect((await ask(client, sent)).status).toBe(401)
    expect(reasons).toEqual([expect.stringMatching(reason)])
  })

  it('of another CA does not even get a connection where certificates are required', async () => {
    const { get: ask } = await start('required')
    expect((await ask('cf')).status).toBe(200)
    for (const sent of [{ of: other }, undefined])
      await expect(ask(sent === undefined ? undefined : 'cf', sent)).rejects.toThrow()
  })

  it('that is revoked is refused at once, on connections that are open and on new ones, and so is its session', async () => {
    authority.issue('leaver', { subject: '/O=platforms/CN=cf' })
    const { get: ask, reload, reasons } = await start()
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    onTestFinished(() => agent.destroy())
    expect((await ask('leaver', { agent })).status).toBe(200)
    const begun = await ask('leaver', { path: '/admin/session', method: 'POST' })
    const cookie = String(begun.headers['set-cookie']).split(';')[0] ?? ''
    expect(cookie).toMatch(/^__Host-purser=/)
    expect((await ask(undefined, { headers: { cookie } })).status).toBe(200)
    authority.revoke('leaver')
    await reload()
    const late = await ask('leaver', { agent })
    expect(late.status).toBe(401)
    expect(late.headers.connection).toBe('close')
    expect((await ask('leaver', { agent })).status).toBe(401)
    expect((await ask(undefined, { headers: { cookie } })).status).toBe(401)
    expect(reasons).toEqual([
      'the certificate was revoked',
      expect.stringContaining('not one of server.tls.ca'),
      expect.stringContaining('no credentials'),
    ])
    // Another one with the same subject is another certificate.
    expect((await ask('again')).status).toBe(200)
  })

  it('whose CA is taken away is refused, and so is its session, while one more CA changes nothing', async () => {
    const { get: ask, reload } = await start()
    const begun = await ask('cf', { path: '/admin/session', method: 'POST' })
    const cookie = String(begun.headers['set-cookie']).split(';')[0] ?? ''
    const [both, certificates] = [
      authority.at('both.crt'),
      [authority, other].map(({ at }) => readFileSync(at('ca.crt'))),
    ]
    writeFileSync(both, Buffer.concat(certificates))
    await reload({ ca: both })
    expect((await ask('cf')).status).toBe(200)
    expect((await ask(undefined, { headers: { cookie } })).status).toBe(200)
    await reload({ ca: other.at('ca.crt') })
    expect((await ask('cf')).status).toBe(401)
    expect((await ask(undefined, { headers: { cookie } })).status).toBe(401)
    expect((await ask(undefined, { headers: { cookie }, path: '/admin/session', method: 'POST' })).status).toBe(401)
  })

  it('that expires while its connection is open is refused from then on', () => {
    const raw = readFileSync(authority.at('cf.crt'))
    let now = Date.now()
    const clock = { now: () => now, after: () => () => {} }
    const { authenticate } = createCertificateAuthenticator(rules, { clock })
    const pem = raw.toString()
    const der = Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64')
    const certificate = { subject: 'O=platforms,CN=cf', issuer: '', names: [], fingerprint: '', raw: () => der }
    const tls: TlsConnection = { protocol: 'TLSv1.3', authorized: true, certificate }
    const asked = { method: 'GET', path: '/', headers: {}, tls, connection: {} }
    expect(authenticate(asked)).toMatchObject({ name: 'cf' })
    now += 3 * 24 * 3_600_000
    expect(authenticate(asked)).toEqual({ refused: 'the certificate has expired' })
    now = 0
    expect(authenticate(asked)).toEqual({ refused: 'the certificate is not valid yet' })
  })

  it('is told by its whole names: one that holds a comma is not two', async () => {
    const trick = `subjectAltName=@names
[names]
URI.1 = "http://x, URI:spiffe://example/k8s, y"`
    const { execFileSync } = await import('node:child_process')
    writeFileSync(authority.at('trick.ext'), trick)
    const run = (...args: string[]) => execFileSync('openssl', args, { cwd: authority.folder, stdio: 'pipe' })
    run(
      'req',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-subj',
      '/CN=eve',
      '-keyout',
      'trick.key',
      '-out',
      'trick.csr',
    )
    run(
      'x509',
      '-req',
      '-in',
      'trick.csr',
      '-CA',
      'ca.crt',
      '-CAkey',
      'ca.key',
      '-days',
      '2',
      '-extfile',
      'trick.ext',
      '-out',
      'trick.crt',
    )
    const { get: ask, reasons } = await start()
    expect((await ask('trick', { path: '/v2/catalog' })).status).toBe(401)
    expect(reasons).toEqual(['the certificate stands for nobody in auth.certificates'])
  })
})

describe('the files of TLS', () => {
  it('are read again without ending a connection in the middle of a request, and a broken one changes nothing', async () => {
    const { get: ask, server, files } = await start()
    const noise = authority.at('noise.pem')
    writeFileSync(noise, 'canary')
    for (const broken of [
      { cert: noise },
      { key: noise },
      { ca: noise },
      { crl: noise },
      { key: other.at('ca.key') },
    ]) {
      const reloading = server.reloadTls({ ...files, ...broken })
      await expect(reloading).rejects.toThrow(ListenError)
      await expect(reloading).rejects.not.toThrow(/canary/)
    }
    expect((await ask('cf')).status).toBe(200)
    authority.issue('server2', { subject: '/CN=server2', names: 'IP:127.0.0.1' })
    await server.reloadTls({ ...files, cert: authority.at('server2.crt'), key: authority.at('server2.key') })
    expect((await ask('cf')).status).toBe(200)
  })

  it('tell browsers to come back by TLS only', async () => {
    const { get: ask } = await start()
    expect((await ask('cf')).headers['strict-transport-security']).toBe('max-age=31536000')
    expect((await ask(undefined)).headers['strict-transport-security']).toBe('max-age=31536000')
  })
})

describe('a revocation list', () => {
  it('names the certificates of its CA, and no others', () => {
    authority.issue('gone', { subject: '/CN=gone' })
    authority.revoke('gone')
    const der = (name: string, of = authority) =>
      Buffer.from(readFileSync(of.at(`${name}.crt`), 'utf8').replace(/-----[^-]+-----|\s/g, ''), 'base64')
    const revoked = read()
    expect(revoked.has(certificateId(der('gone')))).toBe(true)
    expect(revoked.has(certificateId(der('cf')))).toBe(false)
    expect(revoked.has(certificateId(der('cf', other)))).toBe(false)
  })

  it.each([
    '',
    'noise',
    '-----BEGIN X509 CRL-----\nMIIB\n-----END X509 CRL-----',
    '-----BEGIN X509 CRL-----\nMAA=\n-----END X509 CRL-----',
  ])('that is none is refused: %j', pem => {
    expect(() => readRevoked(pem)).toThrow(/revocation list/)
  })
})
