import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fastify } from 'fastify'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createBasicAuthenticator } from '../../src/authenticator/basic.ts'
import {
  type AuthenticationRequest,
  type Authenticator,
  combineAuthenticators,
  type TlsConnection,
} from '../../src/authenticator.ts'
import { createBroker } from '../../src/create-broker.ts'
import type { BrokerEvents } from '../../src/events.ts'
import { toExpress } from '../../src/http/express.ts'
import { toFastify } from '../../src/http/fastify.ts'
import { createNodeListener } from '../../src/http/node/listener.ts'
import { startTestBroker } from '../../src/testing/test-broker.ts'

const folder = mkdtempSync(join(tmpdir(), 'purser-authenticators-'))
const read = (name: string) => readFileSync(join(folder, name))

beforeAll(() => {
  for (const name of ['server', 'client', 'stranger']) {
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
    const names = `subjectAltName=IP:127.0.0.1,URI:spiffe://test/${name}`
    const subject = ['-subj', `/O=platforms/CN=${name}`, '-addext', names]
    const files = ['-keyout', join(folder, `${name}.key`), '-out', join(folder, `${name}.crt`)]
    execFileSync('openssl', ['req', '-x509', ...key, ...subject, ...files], { stdio: 'ignore' })
  }
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const roles = ['platform'] as const

/** A client certificate that the CA of the server has signed; the name is the last part of its SPIFFE id. */
function createCertificates(seen: AuthenticationRequest[]): Authenticator {
  return {
    scheme: 'certificate',
    authenticate(asked) {
      const { method, path, headers, address, tls } = asked
      // Copied while the connection is open: its properties are read when they are asked for.
      seen.push({ method, path, headers, address, tls: tls && copyOf(tls) })
      if (tls?.certificate === undefined) return undefined
      if (!tls.authorized) return { refused: 'the certificate is not signed by a trusted CA' }
      const name =
        tls.certificate.names
          .find(candidate => candidate.startsWith('URI:'))
          ?.split('/')
          .at(-1) ?? ''
      return { name, platform: `mtls-${name}`, roles }
    },
  }
}

function copyOf({ protocol, authorized, certificate }: TlsConnection): TlsConnection {
  return { protocol, authorized, certificate }
}

const bearer: Authenticator = {
  scheme: 'bearer',
  challenge: 'Bearer realm="purser"',
  async authenticate({ headers: { authorization = '' } }) {
    if (!authorization.startsWith('Bearer ')) return undefined
    if (authorization === 'Bearer t0ken') return { name: 'cluster', platform: 'k8s', roles }
    return { refused: 'unknown token', challenge: 'Bearer error="invalid_token"' }
  },
}

const basic = createBasicAuthenticator([{ username: 'cf', password: 'right', platform: 'cf', roles }])

async function start() {
  const seen: AuthenticationRequest[] = []
  const refusals: BrokerEvents['authentication.failed'][] = []
  const principals: (string | undefined)[] = []
  const { handle, stop } = await startTestBroker({
    services: [],
    authenticator: combineAuthenticators([createCertificates(seen), bearer, basic]),
    observer: {
      'authentication.failed': event => refusals.push(event),
      'request.ended': ({ principal }) => principals.push(principal),
    },
  })
  const tls = { key: read('server.key'), cert: read('server.crt'), ca: read('client.crt') }
  const server = createServer({ ...tls, requestCert: true, rejectUnauthorized: false }, createNodeListener(handle))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await stop()
  })
  const { port } = server.address() as AddressInfo
  const ask = async (options: { readonly as?: string; readonly authorization?: string }) => {
    const { as, authorization } = options
    const own = as === undefined ? {} : { cert: read(`${as}.crt`), key: read(`${as}.key`) }
    const headers = { 'x-broker-api-version': '2.17', ...(authorization === undefined ? {} : { authorization }) }
    const sent = request({
      host: '127.0.0.1',
      port,
      path: '/v2/catalog?x=y',
      ca: read('server.crt'),
      agent: false,
      headers,
      ...own,
    })
    const [response] = await once(sent.end(), 'response')
    response.resume()
    return { status: response.statusCode, challenges: response.headersDistinct['www-authenticate'] }
  }
  return { ask, seen, refusals, principals }
}

describe('several authenticators side by side, over TLS', () => {
  it('are tried in order, and the first that knows the client wins', async () => {
    const { ask, principals } = await start()
    const right = `Basic ${Buffer.from('cf:right').toString('base64')}`
    expect(await ask({ as: 'client' })).toMatchObject({ status: 200 })
    expect(await ask({ as: 'client', authorization: right })).toMatchObject({ status: 200 })
    expect(await ask({ authorization: 'Bearer t0ken' })).toMatchObject({ status: 200 })
    expect(await ask({ authorization: right })).toMatchObject({ status: 200 })
    // A certificate of nobody's does not lock out who has a password too.
    expect(await ask({ as: 'stranger', authorization: right })).toMatchObject({ status: 200 })
    expect(principals).toEqual(['client', 'client', 'cluster', 'cf', 'cf'])
  })

  it('see address, protocol and certificate', async () => {
    const { ask, seen } = await start()
    await ask({ as: 'client' })
    await ask({ as: 'stranger' })
    const [known, unknown] = seen
    expect(known).toMatchObject({ method: 'GET', path: '/v2/catalog', address: '127.0.0.1' })
    const certificate = new X509Certificate(read('client.crt'))
    expect(known?.tls?.protocol).toBe('TLSv1.3')
    expect(known?.tls?.authorized).toBe(true)
    expect(known?.tls?.certificate).toMatchObject({
      subject: 'O=platforms,CN=client',
      issuer: 'O=platforms,CN=client',
      names: ['IP Address:127.0.0.1', 'URI:spiffe://test/client'],
      fingerprint: certificate.fingerprint256,
    })
    expect(known?.tls?.certificate?.raw()).toEqual(certificate.raw)
    expect(unknown?.tls?.authorized).toBe(false)
  })

  it('a 401 asks for each of them in a header of its own, and tells operators why', async () => {
    const { ask, refusals } = await start()
    const [anyBearer, anyBasic] = [bearer.challenge, basic.challenge]
    expect(await ask({})).toEqual({ status: 401, challenges: [anyBearer, anyBasic] })
    expect(await ask({ authorization: 'Bearer no' })).toEqual({
      status: 401,
      challenges: ['Bearer error="invalid_token"', anyBasic],
    })
    expect(await ask({ as: 'stranger' })).toEqual({ status: 401, challenges: [anyBearer, anyBasic] })
    expect(refusals.map(({ scheme, reason }) => [scheme, reason])).toEqual([
      [undefined, 'no credentials of a kind that is accepted'],
      ['bearer', 'unknown token'],
      ['certificate', 'the certificate is not signed by a trusted CA'],
    ])
  })
})

describe('an authenticator without types', () => {
  it.each([
    [null, 401],
    [undefined, 401],
    [false, 500],
    [true, 500],
    [{}, 500],
    ['bob', 500],
    [{ name: 'bob', platform: 'cf' }, 500],
  ])('that answers %j lets nobody in, alone and beside others: %i', async (answer, status) => {
    const loose: Authenticator = { scheme: 'loose', authenticate: () => answer as never }
    for (const authenticator of [loose, combineAuthenticators([loose, bearer])]) {
      const errors: string[] = []
      const observer = {
        'request.failed': ({ error }: BrokerEvents['request.failed']) => void errors.push(error.message),
      }
      const broker = await startTestBroker({ services: [], authenticator, observer })
      onTestFinished(() => broker.stop())
      const sent = new Request('http://broker.test/v2/catalog', { headers: { 'x-broker-api-version': '2.17' } })
      expect((await broker.fetch(sent)).status).toBe(status)
      const message = expect.stringMatching(/^the authenticator "loose" must answer \{ name, platform, roles \}/)
      expect(errors).toEqual(status === 500 ? [message] : [])
    }
  })
})

describe('combineAuthenticators', () => {
  it('is the one where there is one, and refuses to be none', () => {
    expect(combineAuthenticators([basic])).toBe(basic)
    expect(() => combineAuthenticators([])).toThrow(/at least one/)
  })
})

describe('inside another application', () => {
  const asked: (string | undefined)[] = []
  const everybody: Authenticator = {
    scheme: 'test',
    authenticate({ path, address, tls }) {
      asked.push(path, address, tls?.protocol)
      return { name: 'test', platform: 'test', roles }
    },
  }
  const headers = { 'x-broker-api-version': '2.17' }
  const open = () => createBroker({ services: [] }, { store: 'memory:', authenticator: everybody })

  it('Express: the path below its mount, and the address', async () => {
    const broker = open()
    const server = createHttpServer(toExpress(broker)).listen(0, '127.0.0.1')
    onTestFinished(async () => {
      server.close()
      await broker.close()
    })
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    expect((await fetch(`http://127.0.0.1:${port}/v2/catalog?x`, { headers })).status).toBe(200)
    expect(asked.splice(0)).toEqual(['/v2/catalog', '127.0.0.1', undefined])
  })

  it('Fastify: the same', async () => {
    const app = fastify()
    await app.register(toFastify(open()), { prefix: '/broker' })
    onTestFinished(() => app.close())
    const url = await app.listen({ host: '127.0.0.1', port: 0 })
    expect((await fetch(`${url}/broker/v2/catalog`, { headers })).status).toBe(200)
    expect(asked.splice(0)).toEqual(['/v2/catalog', '127.0.0.1', undefined])
  })

  it('fetch: the host knows neither address nor connection', async () => {
    const broker = open()
    onTestFinished(() => broker.close())
    expect((await broker.fetch(new Request('https://broker.test/v2/catalog', { headers }))).status).toBe(200)
    expect(asked.splice(0)).toEqual(['/v2/catalog', undefined, undefined])
  })
})
