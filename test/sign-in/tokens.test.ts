import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createBasicAuthenticator } from '../../src/authenticator/basic.ts'
import { fetchJson } from '../../src/authenticator/fetch-json.ts'
import { createJwtAuthenticator, type TokenIssuer } from '../../src/authenticator/jwt.ts'
import { createKeySet } from '../../src/authenticator/key-set.ts'
import { combineAuthenticators } from '../../src/authenticator.ts'
import { startTestBroker } from '../../src/testing/test-broker.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { serviceOf } from '../engine/world.ts'

type Keys = Awaited<ReturnType<typeof generateKeyPair>>
let own: Keys
let next: Keys
let stranger: Keys
let publicKeys: { keys: object[] }

beforeAll(async () => {
  own = await generateKeyPair('ES256', { extractable: true })
  next = await generateKeyPair('ES256', { extractable: true })
  stranger = await generateKeyPair('ES256', { extractable: true })
  publicKeys = { keys: [{ ...(await exportJWK(own.publicKey)), kid: 'one', use: 'sig' }] }
})

const issuerUrl = 'https://login.example/realms/main'

/** A real server for the keys, and an authenticator that asks it. */
async function start(change: Partial<TokenIssuer> = {}, listener?: RequestListener, timeout = 5_000) {
  const clock = createVirtualClock()
  let asked = 0
  const server = createServer((request, response) => {
    asked += 1
    if (listener !== undefined) listener(request, response)
    else response.setHeader('content-type', 'application/json').end(JSON.stringify(publicKeys))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`
  const failures: string[] = []
  const keys = createKeySet({
    load: () => fetchJson(url, { timeout }),
    clock,
    onFailure: error => failures.push((error as Error).message),
  })
  const issuer: TokenIssuer = {
    issuer: issuerUrl,
    audience: ['purser'],
    algorithms: ['ES256', 'RS256'],
    clockSkew: 30_000,
    name: 'login',
    nameClaim: 'sub',
    platform: 'cf',
    roles: ['platform'],
    rolesClaim: 'realm_access.roles',
    roleNames: [{ value: 'broker-admins', role: 'admin' }],
    keys,
    ...change,
  }
  const authenticator = createJwtAuthenticator([issuer], clock)
  const seconds = () => Math.floor(clock.now() / 1000)
  /** A good token, unless something of it is changed. */
  const sign = (claims: object = {}, header: object = {}, key = own.privateKey) =>
    new SignJWT({ iss: issuerUrl, aud: 'purser', sub: 'ada', iat: seconds(), exp: seconds() + 300, ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'one', ...header })
      .sign(key)
  const send = async (token: string, connection?: object, scheme = 'Bearer') =>
    authenticator.authenticate({
      method: 'GET',
      path: '/v2/catalog',
      headers: { authorization: `${scheme} ${token}` },
      connection,
    })
  return { clock, authenticator, issuer, sign, send, seconds, failures, asked: () => asked }
}

type Started = Awaited<ReturnType<typeof start>>
const toPart = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const claimsOf = ({ seconds }: Started) => ({ iss: issuerUrl, aud: 'purser', sub: 'ada', exp: seconds() + 300 })

async function signWithHmac(started: Started, secret: string | Uint8Array): Promise<string> {
  const signed = `${toPart({ alg: 'HS256', kid: 'one' })}.${toPart(claimsOf(started))}`
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}

/** Each is a token that is wrong in one way, and what operators are told. */
const attacks: Readonly<Record<string, readonly [(started: Started) => string | Promise<string>, RegExp]>> = {
  'alg none': [started => `${toPart({ alg: 'none' })}.${toPart(claimsOf(started))}.AA`, /algorithm|malformed/],
  'alg none without a signature': [started => `${toPart({ alg: 'none' })}.${toPart(claimsOf(started))}.`, /malformed/],
  'HMAC with the public key in PEM (confusion)': [
    async started => signWithHmac(started, await exportSPKI(own.publicKey)),
    /algorithm/,
  ],
  'HMAC with the public key as JWK (confusion)': [
    async started => signWithHmac(started, JSON.stringify(publicKeys.keys[0])),
    /algorithm/,
  ],
  'an algorithm of another kind of key': [
    async started => {
      const [, claims, signature] = (await started.sign()).split('.')
      return `${toPart({ alg: 'RS256', kid: 'one' })}.${claims}.${signature}`
    },
    /key that its issuer does not have/,
  ],
  'an end that is over': [({ sign, seconds }) => sign({ exp: seconds() - 31 }), /expired/],
  'a beginning that has not come': [({ sign, seconds }) => sign({ nbf: seconds() + 31 }), /nbf/],
  'no end': [({ sign }) => sign({ exp: undefined }), /exp/],
  'an end that is a text': [({ sign }) => sign({ exp: 'tomorrow' as never }), /exp|malformed/],
  'another audience': [({ sign }) => sign({ aud: 'somebody-else' }), /aud/],
  'no audience': [({ sign }) => sign({ aud: undefined }), /aud/],
  'another issuer': [({ sign }) => sign({ iss: 'https://evil.example' }), /issuer that is not known/],
  'an issuer that begins alike': [({ sign }) => sign({ iss: `${issuerUrl}.evil.example` }), /issuer that is not known/],
  'no issuer': [({ sign }) => sign({ iss: undefined }), /issuer that is not known/],
  'a key of somebody else under a good name': [({ sign }) => sign({}, {}, stranger.privateKey), /signature/],
  'a kid that is a path': [({ sign }) => sign({}, { kid: '../../../../dev/null' }, stranger.privateKey), /key that/],
  'a kid that is SQL': [({ sign }) => sign({}, { kid: "x' UNION SELECT 'key" }, stranger.privateKey), /key that/],
  'a kid that is a property of every object': [
    ({ sign }) => sign({}, { kid: '__proto__' }, stranger.privateKey),
    /key that/,
  ],
  'its own key in the header': [
    async ({ sign }) => sign({}, { kid: 'x', jwk: await exportJWK(stranger.publicKey) }, stranger.privateKey),
    /key that/,
  ],
  'the address of its own keys in the header': [
    ({ sign }) => sign({}, { kid: 'x', jku: 'https://evil.example/keys' }, stranger.privateKey),
    /key that/,
  ],
  'a header that has to be understood': [
    async started => {
      const [, claims, signature] = (await started.sign()).split('.')
      return `${toPart({ alg: 'ES256', kid: 'one', crit: ['b64'], b64: false })}.${claims}.${signature}`
    },
    /malformed|signature/,
  ],
  'other claims under the same signature': [
    async started => {
      const [header, , signature] = (await started.sign()).split('.')
      return `${header}.${toPart({ ...claimsOf(started), sub: 'eve' })}.${signature}`
    },
    /signature/,
  ],
  'a signature of zeros': [async ({ sign }) => `${(await sign()).replace(/[^.]+$/, '')}${'A'.repeat(86)}`, /signature/],
  'no name': [({ sign }) => sign({ sub: undefined }), /claim sub/],
  'a name with a line end': [({ sign }) => sign({ sub: 'ada\n[admin]' }), /claim sub/],
  'something that is no token': [() => 'a.b.c', /malformed/],
  'a token that is far too long': [({ sign }) => sign({ more: 'x'.repeat(10_000) }), /malformed/],
  'two tokens in one header': [async ({ sign }) => `${await sign()}, Bearer ${await sign()}`, /malformed/],
}

describe('a bearer token', () => {
  it('says who somebody is, of which platform, and what they may do', async () => {
    const { send, sign } = await start()
    expect(await send(await sign())).toEqual({ name: 'login:ada', platform: 'cf', roles: ['platform'] })
    const admin = await sign({ realm_access: { roles: ['broker-admins', 'admin', 'viewer'] } })
    expect(await send(admin)).toMatchObject({ roles: ['platform', 'admin'] })
    expect(await send(await sign(), undefined, 'bearer')).toMatchObject({ name: 'login:ada' })
  })

  it.each(Object.keys(attacks))('with %s is refused', async name => {
    const started = await start()
    expect(await started.send(await started.sign())).toMatchObject({ name: 'login:ada' })
    const [forge, reason] = attacks[name] ?? [() => '', /./]
    expect(await started.send(await forge(started))).toEqual({
      refused: expect.stringMatching(reason),
      challenge: 'Bearer realm="purser", error="invalid_token"',
    })
  })

  it('need not name its key: each that may fit is tried, up to a limit', async () => {
    const before = publicKeys
    onTestFinished(() => {
      publicKeys = before
    })
    const nameless = (key: Keys) => exportJWK(key.publicKey)
    publicKeys = { keys: [await nameless(next), { ...(await nameless(own)), kid: 'one' }] }
    const { send, sign } = await start()
    for (const key of [own, next])
      expect(await send(await sign({}, { kid: undefined }, key.privateKey))).toMatchObject({ name: 'login:ada' })
    const forged = await sign({}, { kid: undefined }, stranger.privateKey)
    expect(await send(forged)).toMatchObject({ refused: 'the signature of the token is wrong' })
    const late = await sign({ exp: 1 }, { kid: undefined }, next.privateKey)
    expect(await send(late)).toMatchObject({ refused: 'the token has expired' })
    const many = await Promise.all(Array.from({ length: 16 }, () => nameless(stranger)))
    publicKeys = { keys: [...many, await nameless(own)] }
    const other = await start()
    expect(await other.send(await other.sign({}, { kid: undefined }))).toMatchObject({
      refused: 'the signature of the token is wrong',
    })
  })

  it('is good within the clock skew, and no longer', async () => {
    const { send, sign, seconds } = await start()
    expect(await send(await sign({ exp: seconds() - 29 }))).toMatchObject({ name: 'login:ada' })
    expect(await send(await sign({ nbf: seconds() + 29 }))).toMatchObject({ name: 'login:ada' })
  })

  it('may name the platform, where that is configured, but no part of another one (prefix confusion)', async () => {
    const { send, sign } = await start({ platformClaim: 'https://purser/platform' })
    const of = (platform: unknown) => sign({ 'https://purser/platform': platform }).then(token => send(token))
    expect(await of('k8s')).toMatchObject({ platform: 'k8s' })
    for (const wrong of ['cf/east', '../cf', '', 'a b', ['cf'], undefined, null, 7])
      expect(await of(wrong)).toMatchObject({ refused: expect.stringContaining('https://purser/platform') })
  })

  it('that gives no role is refused', async () => {
    const { send, sign } = await start({ roles: [], roleNames: [] })
    expect(await send(await sign())).toMatchObject({ refused: 'the token gives no role here' })
    expect(await send(await sign({ realm_access: { roles: ['viewer'] } }))).toMatchObject({ roles: ['viewer'] })
    expect(await send(await sign({ realm_access: { roles: 'operator viewer' } }))).toMatchObject({
      roles: ['viewer', 'operator'],
    })
  })

  it('is checked once a minute on a connection that goes on with it, and not after its end', async () => {
    const { send, sign, clock, authenticator, seconds } = await start({ clockSkew: 0 })
    const connection = {}
    const token = await sign({ exp: seconds() + 40 })
    const first = await send(token, connection)
    const ask = () =>
      authenticator.authenticate({
        method: 'GET',
        path: '/',
        headers: { authorization: `Bearer ${token}` },
        connection,
      })
    expect(ask()).toBe(first)
    expect(await send(await sign({}, {}, stranger.privateKey), connection)).toMatchObject({
      refused: expect.anything(),
    })
    await clock.advance(40_000)
    expect(await ask()).toMatchObject({ refused: 'the token has expired' })
  })
})

describe('issuers', () => {
  it('have one entry each: nobody could tell which of two is meant', async () => {
    const { issuer } = await start()
    expect(() => createJwtAuthenticator([issuer, { ...issuer, name: 'again' }])).toThrow(
      /two entries for https:.*realms\/main/,
    )
  })
})

describe('the keys of an issuer', () => {
  it('are asked for once, and again for a new key: a flood of wrong ones asks once in a while', async () => {
    const { send, sign, asked, clock } = await start()
    await Promise.all(Array.from({ length: 20 }, async () => send(await sign())))
    expect(asked()).toBe(1)
    const before = publicKeys
    publicKeys = { keys: [...before.keys, { ...(await exportJWK(next.publicKey)), kid: 'two' }] }
    onTestFinished(() => {
      publicKeys = before
    })
    const rotated = await sign({}, { kid: 'two' }, next.privateKey)
    expect(await send(rotated)).toMatchObject({ refused: expect.stringContaining('key that its issuer') })
    await clock.advance(30_000)
    expect(await send(rotated)).toMatchObject({ name: 'login:ada' })
    for (let count = 0; count < 50; count += 1) await send(await sign({}, { kid: `no-${count}` }, stranger.privateKey))
    expect(asked()).toBe(2)
  })

  it('that were good stay good while the server fails, for a day', async () => {
    let isBroken = false
    const { send, sign, clock, failures } = await start({}, (_, response) => {
      if (isBroken) response.writeHead(500).end('{}')
      else response.end(JSON.stringify(publicKeys))
    })
    expect(await send(await sign())).toMatchObject({ name: 'login:ada' })
    isBroken = true
    await clock.advance(11 * 60_000)
    expect(await send(await sign())).toMatchObject({ name: 'login:ada' })
    await vi.waitFor(() => expect(failures).toEqual([expect.stringContaining('answered 500')]))
    await clock.advance(24 * 3_600_000)
    expect(await send(await sign())).toEqual({
      refused: 'the keys of the issuer could not be read',
      unavailable: true,
      retryAfter: 5,
    })
  })

  it.each<[string, RequestListener, RegExp]>([
    ['hangs', () => {}, /did not answer within 300 ms/],
    ['begins and hangs', (_, response) => response.write('{"keys":['), /did not answer within 300 ms/],
    [
      'grows',
      (_, response) => void response.end(`{"keys":[${'{"kty":"EC"},'.repeat(60_000)}{}]}`),
      /more than 524288 bytes/,
    ],
    [
      'redirects',
      (_, response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
      /answered 302/,
    ],
    ['answers no JSON', (_, response) => void response.end('<html>'), /else than JSON/],
    ['answers a list', (_, response) => void response.end('[]'), /else than a JSON object/],
    ['answers no keys', (_, response) => void response.end('{"keys":"all"}'), /malformed/i],
  ])('of a server that %s are bounded, and the token is not the one to blame', async (_, listener, reason) => {
    const { send, sign, failures } = await start({}, listener, 300)
    expect(await send(await sign())).toMatchObject({ unavailable: true })
    expect(failures).toEqual([expect.stringMatching(reason)])
    // The next one does not wait for it again.
    expect(await send(await sign())).toMatchObject({ unavailable: true })
    expect(failures).toHaveLength(1)
  })
})

describe('a broker with tokens and passwords', () => {
  it('takes both, answers 401 with both challenges, 503 without keys, and lets a session last no longer than its token', async () => {
    const { authenticator, sign, clock, seconds } = await start({ clockSkew: 0, rolesClaim: 'roles', roleNames: [] })
    const basic = createBasicAuthenticator(
      [{ username: 'ops', password: 'pw', platform: 'default', roles: ['admin'] }],
      clock,
    )
    const broker = await startTestBroker({
      services: [serviceOf({})],
      clock,
      authenticator: combineAuthenticators([basic, authenticator]),
      observer: {},
    })
    onTestFinished(() => broker.stop())
    const send = (path: string, headers: Record<string, string>, method = 'GET') =>
      broker.fetch(
        new Request(`${broker.url}${path}`, { method, headers: { 'x-broker-api-version': '2.17', ...headers } }),
      )
    const token = await sign({ roles: ['viewer'], exp: seconds() + 600 })
    expect((await send('/v2/catalog', { authorization: `Bearer ${token}` })).status).toBe(200)
    expect((await send('/admin/me', { authorization: `Basic ${btoa('ops:pw')}` })).status).toBe(200)
    const refused = await send('/v2/catalog', { authorization: 'Bearer x' })
    expect(refused.status).toBe(401)
    expect(refused.headers.get('www-authenticate')).toContain('Basic realm="purser", charset="UTF-8", Bearer')
    const begun = await send('/admin/session', { authorization: `Bearer ${token}` }, 'POST')
    const cookie = begun.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    const me = await send('/admin/me', { cookie })
    expect(await me.json()).toMatchObject({ name: 'login:ada', roles: ['platform', 'viewer'] })
    await clock.advance(600_000)
    expect((await send('/admin/me', { cookie })).status).toBe(401)
  })

  it('answers 503 where it cannot check a token, so that the platform asks again', async () => {
    const { authenticator, sign, clock } = await start({}, (_, response) => void response.writeHead(500).end())
    const broker = await startTestBroker({ services: [serviceOf({})], clock, authenticator, observer: {} })
    onTestFinished(() => broker.stop())
    const headers = { 'x-broker-api-version': '2.17', authorization: `Bearer ${await sign()}` }
    const answer = await broker.fetch(new Request(`${broker.url}/v2/catalog`, { headers }))
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('5')
    expect(await answer.json()).toMatchObject({ error: 'SignInUnavailable' })
  })
})
