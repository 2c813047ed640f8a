import { request as httpRequest } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import { createBasicAuthenticator } from '../../src/authenticator/basic.ts'
import { TerminalError } from '../../src/index.ts'
import { StoreUnavailableError } from '../../src/store.ts'
import { conformance, type Platform, requirement } from './harness.ts'
import { another, bound, createLog, endpoints, incomplete, provisioned } from './helpers.ts'
import { createServices, full, org } from './services.ts'

const version = 'x-broker-api-version'
const identity = 'x-broker-api-request-identity'

conformance('Headers', () => {
  requirement('HDR-03', 'another major version is answered 412, and the text says which version is needed', async t => {
    const before = [...t.backend.done]
    for (const announced of ['1.0', '3.0', '3.17']) {
      const answer = await t.client.provision('i', { ...full, ...org }, { headers: { [version]: announced } })
      expect(answer.status).toBe(412)
      expect(answer.body).toMatchObject({
        error: 'UnsupportedApiVersion',
        description: expect.stringContaining('2.17'),
      })
    }
    expect(t.backend.done).toEqual(before)
  })

  requirement('HDR-04', 'a request without the header is answered 412 and told what to send', async t => {
    const answer = await t.client.catalog({ headers: { [version]: undefined } })
    expect(answer.status).toBe(412)
    expect(answer.body).toMatchObject({ error: 'MissingApiVersion' })
    expect(answer.body.description).toContain('X-Broker-API-Version')
    expect(answer.body).not.toHaveProperty('services')
  })

  requirement(
    'HDR-04',
    'a request without the header is answered 400 where the operator wants it so',
    async t => {
      const answer = await t.client.catalog({ headers: { [version]: undefined } })
      expect(answer.status).toBe(400)
      expect(answer.body.description).toContain('X-Broker-API-Version')
      expect((await t.client.catalog({ headers: { [version]: '3.0' } })).status).toBe(412)
    },
    { settings: { osb: { missingVersion: 400 } } },
  )

  requirement('HDR-05', 'the name of the header is read in any case', async t => {
    for (const name of ['X-Broker-Api-Version', 'X-BROKER-API-VERSION', 'x-broker-api-version'])
      expect(await statusWithHeader(t, name, '2.15')).toBe(200)
    expect(await statusWithHeader(t, 'X-Broker-Api-Version', '3.0')).toBe(412)
  })

  requirement('HDR-06', 'every 2.x is served, lower and higher than our own', async t => {
    for (const announced of ['2.0', '2.11', '2.13', '2.17', '2.18', '2.123']) {
      const answer = await t.client.catalog({ headers: { [version]: announced } })
      expect(answer.status).toBe(200)
      expect(answer.body.services?.length).toBeGreaterThan(0)
    }
  })

  requirement('HDR-07', 'every endpoint checks the version before it does anything', async t => {
    await provisioned(t)
    await bound(t)
    const before = [...t.backend.done]
    for (const announced of [undefined, '3.0'])
      for (const [method, path, body] of [
        ...endpoints,
        ['GET', '/v2/nothing'],
        ['GET', '/v2/service_instances/%zz'],
      ] as const) {
        const answer = await t.request(method, path, { headers: { [version]: announced }, body })
        expect([path, answer.status]).toEqual([path, 412])
      }
    expect(t.backend.done).toEqual(before)
  })

  requirement('HDR-08', 'an empty value counts as absent, one that is not a version as unsupported', async t => {
    for (const empty of ['', '  '])
      expect((await t.request('GET', '/v2/catalog', { headers: { [version]: empty } })).body).toMatchObject({
        error: 'MissingApiVersion',
      })
    for (const noise of ['latest', '2', '2.', '2.x', 'v2.17', '2.17.0', '-2.17', '2.17, 2.17']) {
      const answer = await t.request('GET', '/v2/catalog', { headers: { [version]: noise } })
      expect([noise, answer.status, answer.body.error]).toEqual([noise, 412, 'UnsupportedApiVersion'])
    }
  })

  requirement('OID-11', 'no request needs the originating identity, a deletion of an orphan least of all', async t => {
    const release = t.backend.hold('provision')
    const user = { platform: 'cloudfoundry', user: { user_id: 'u-1' } }
    await t.createClient({ originatingIdentity: user }).provision('i', { ...full, ...org }, incomplete)
    expect((await t.client.deprovision('i', full, incomplete)).status).toBe(202)
    expect(await t.ended('i')).toMatchObject({ state: 'succeeded' })
    release()
    await provisioned(t, 'j')
    await bound(t, 'j')
    expect((await t.client.update('j', { service_id: 'full', parameters: { size: 2 } })).status).toBe(200)
    expect((await t.client.unbind('j', 'b', full)).status).toBe(200)
    const [accepted] = await t.store.history('i')
    expect(accepted?.identity).toEqual(user)
  })

  requirement('OID-12', 'an identity that cannot be read is recorded as such, and the request goes on', async t => {
    const encoded = Buffer.from('{"user_id":"ü"}').toString('base64')
    const readable = { platform: 'cloudfoundry', user: { user_id: 'ü' } }
    const cases: [string, object | undefined][] = [
      [`cloudfoundry ${encoded}`, readable],
      [`cloudfoundry ${encoded.replace(/=+$/, '')}`, readable],
      ['cloudfoundry !!!not-base64!!!', { platform: 'cloudfoundry', unreadable: true }],
      [`cloudfoundry ${Buffer.from('no json').toString('base64')}`, { platform: 'cloudfoundry', unreadable: true }],
      [`cloudfoundry ${Buffer.from('[1]').toString('base64')}`, { platform: 'cloudfoundry', unreadable: true }],
      ['cloudfoundry', { platform: 'cloudfoundry', unreadable: true }],
      ['', undefined],
    ]
    for (const [index, [header, recorded]] of cases.entries()) {
      const headers = { 'x-broker-api-originating-identity': header }
      expect((await t.client.provision(`i${index}`, { ...full, ...org }, { headers })).status).toBe(201)
      expect((await t.store.history(`i${index}`))[0]?.identity).toEqual(recorded)
    }
  })

  requirement('OID-13', 'the identity stays out of answers and out of the log, whatever goes wrong', async t => {
    const log = createLog()
    const special = await another(t, { services: createServices(t.backend), observer: log.observer })
    const canary = 'canary-user-7f3a'
    const user = { platform: 'cloudfoundry', user: { user_id: canary } }
    const client = special.createClient({ originatingIdentity: user })
    const encoded = Buffer.from(JSON.stringify(user.user)).toString('base64')
    t.backend.failNext('provision', new Error('the backend is away'))
    await client.provision('i', { ...full, ...org }, incomplete)
    expect(await special.ended('i')).toMatchObject({ state: 'succeeded' })
    t.backend.failNext('update', new TerminalError('never'))
    const answers = [
      await client.update('i', { service_id: 'full', parameters: { size: 2 } }),
      await client.provision('i', { ...full, ...org, parameters: { size: 9 } }),
      await client.provision('j', { ...full, ...org, parameters: { size: 'x' } }),
      await client.deprovision('nobody', full),
      await client.lastOperation('i'),
      await client.catalog({ headers: { [version]: '3.0' } }),
    ]
    expect(answers.map(answer => answer.status)).toEqual([500, 409, 400, 410, 200, 412])
    const broken = await special.request('PUT', '/v2/service_instances/k', {
      headers: { 'x-broker-api-originating-identity': `${canary} ${canary}` },
      body: 'no json',
    })
    const everything = [...answers.map(answer => answer.text), broken.text, log.text()].join('\n')
    expect(log.text()).toContain('operation.failed')
    expect(everything).not.toContain(canary)
    expect(everything).not.toContain(encoded)
  })

  requirement(
    'RID-05',
    'the request identity stands in the history of what was asked, and in the log of a failure',
    async t => {
      const log = createLog()
      const special = await another(t, { services: createServices(t.backend), observer: log.observer })
      const client = special.createClient({ requestIdentity: 'request-1' })
      await client.provision('i', { ...full, ...org })
      expect((await special.store.history('i')).map(event => event.requestId)).toEqual(['request-1', 'request-1'])
      special.store.instance = () => Promise.reject(new Error('unforeseen'))
      expect((await client.fetchInstance('i')).status).toBe(500)
      expect(log.text()).toMatch(/request\.failed .*requestId=request-1/s)
    },
  )

  requirement('RID-06', 'every answer repeats the request identity, refusals and failures included', async t => {
    const user = { username: 'u', password: 'correct horse', platform: 'p', roles: ['platform'] as const }
    const closed = await another(t, {
      services: createServices(t.backend),
      authenticator: createBasicAuthenticator([user]),
    })
    const authorization = `Basic ${Buffer.from('u:correct horse').toString('base64')}`
    const put = { ...full, ...org }
    const requests: [number, string, string, Record<string, string | undefined>, unknown?][] = [
      [200, 'GET', '/v2/catalog', {}],
      [401, 'GET', '/v2/catalog', { authorization: undefined }],
      [412, 'GET', '/v2/catalog', { [version]: '3.0' }],
      [412, 'GET', '/v2/catalog', { [version]: undefined }],
      [404, 'GET', '/v2/nothing', {}],
      [405, 'POST', '/v2/catalog', {}],
      [400, 'PUT', '/v2/service_instances/%zz', {}, put],
      [400, 'PUT', '/v2/service_instances/i', {}, 'no json'],
      [201, 'PUT', '/v2/service_instances/i', {}, put],
      [202, 'PUT', '/v2/service_instances/j?accepts_incomplete=true', {}, put],
      [409, 'PUT', '/v2/service_instances/i', {}, { ...put, parameters: { size: 2 } }],
      [422, 'PUT', '/v2/service_instances/k', {}, { ...put, maintenance_info: { version: '9.9.9' } }],
      [410, 'DELETE', '/v2/service_instances/k?service_id=full&plan_id=full-small', {}],
      [503, 'GET', '/v2/service_instances/i', {}],
    ]
    for (const [index, [status, method, path, headers, body]] of requests.entries()) {
      if (status === 503) closed.store.instance = () => Promise.reject(new StoreUnavailableError('full'))
      const sent = { authorization, [identity]: `id ${index}`, ...headers }
      const answer = await closed.request(method, path, { headers: sent, body })
      expect([path, answer.status, answer.headers.get(identity)]).toEqual([path, status, `id ${index}`])
    }
    const without = await closed.request('GET', '/v2/catalog', { headers: { authorization } })
    expect(without.headers.has(identity)).toBe(false)
  })
})

/** The web's Headers write names in lower case; only node's own client sends them as they stand. */
async function statusWithHeader(t: Platform, name: string, value: string): Promise<number> {
  if (t.url === 'http://broker.test')
    return (await t.fetch(new Request(`${t.url}/v2/catalog`, { headers: { [name]: value } }))).status
  return new Promise((resolve, reject) => {
    const sent = httpRequest(`${t.url}/v2/catalog`, { headers: { [name]: value }, agent: false }, response => {
      text(response).then(() => resolve(response.statusCode ?? 0), reject)
    })
    sent.on('error', reject).end()
  })
}
