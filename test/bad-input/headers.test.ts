import { describe, expect, it } from 'vitest'
import { createBasicAuthenticator } from '../../src/authenticator/basic.ts'
import { attacking, binding, expectRefusal, instance, place, sync } from './target.ts'
import type { RawRequest } from './wire.ts'

const body = JSON.stringify({ ...sync, ...place })
const encode = (text: string) => Buffer.from(text).toString('base64')

describe('an originating identity', () => {
  it.each([
    '',
    'cloudfoundry',
    'cloudfoundry ',
    'cloudfoundry !!!not base64!!!',
    `cloudfoundry ${encode('not json')}`,
    `cloudfoundry ${encode('null')}`,
    `cloudfoundry ${encode('[1]')}`,
    `cloudfoundry ${encode('"text"')}`,
    `cloudfoundry ${encode('{"user_id":')}`,
    `cloudfoundry ${encode('{"__proto__":{"polluted":1},"constructor":1}')}`,
    `cloudfoundry ${encode('{"user_id":"x"}')} more`,
    `cloudfoundry ${encode(`{"a":${'['.repeat(5500)}${']'.repeat(5500)}}`)}`,
    `cloudfoundry ${encode('\u0000\u0001\u0002')}`,
    ` ${encode('{}')}`,
    '\u00e4\u00f6 \u00ff',
    'x'.repeat(8000),
  ])('%#. that cannot be read never refuses a request', value =>
    attacking(async target => {
      const headers = [['X-Broker-API-Originating-Identity', value]] as const
      const send = (method: string, path: string) => target.send({ method, path, body, headers })
      expect((await send('PUT', instance('i'))).status).toBe(201)
      expect((await send('PUT', binding('i', 'b'))).status).toBe(201)
      expect(await target.store.history('i')).toHaveLength(4)
    }),
  )
})

describe('a version', () => {
  it.each([
    '3.0',
    '1.0',
    '2',
    '2.',
    '.17',
    '2.x',
    '2.17.1',
    'v2.17',
    '-2.17',
    '2.9999999',
    '2.1e1',
    '2,17',
    '\u00b2.17',
  ])('%s: 412 on every endpoint, known or not', version =>
    attacking(async target => {
      const headers = [['X-Broker-API-Version', version]] as const
      for (const path of [
        '/v2/catalog',
        instance('i'),
        `${instance('i')}/last_operation`,
        binding('i', 'b'),
        '/v2/nothing',
      ])
        expectRefusal(await target.send({ method: 'GET', path, headers }), 412, 'UnsupportedApiVersion')
      expectRefusal(await target.send({ method: 'PUT', path: instance('i'), body: '{', headers }), 412)
    }),
  )

  it('that came twice is none', () =>
    attacking(async target => {
      const headers = [
        ['X-Broker-API-Version', '2.17'],
        ['x-broker-api-version', '2.13'],
      ] as const
      expectRefusal(await target.send({ method: 'GET', path: '/v2/catalog', headers }), 412)
    }))
})

describe('headers that came several times', () => {
  it('two hosts: 400', () =>
    attacking(async target => {
      const headers = [
        ['Host', 'one.test'],
        ['Host', 'two.test'],
      ] as const
      expectRefusal(await target.send({ method: 'GET', path: '/v2/catalog', headers }), 400)
    }))

  it('two content types: 400, nothing created', () =>
    attacking(async target => {
      const headers = [
        ['Content-Type', 'text/plain'],
        ['Content-Type', 'application/json'],
      ] as const
      expectRefusal(await target.send({ method: 'PUT', path: instance('i'), body, headers }), 400)
      expect(await target.store.instance('i')).toBeUndefined()
    }))

  it('two request identities come back in one', () =>
    attacking(async target => {
      const headers = [
        ['X-Broker-API-Request-Identity', 'a'],
        ['X-Broker-API-Request-Identity', 'b\u00e9'],
      ] as const
      for (const path of ['/v2/catalog', instance('unknown'), '/healthz', '/nothing']) {
        const answer = await target.send({ method: 'GET', path, headers })
        expect(answer.headers['x-broker-api-request-identity']).toBe('a, b\u00e9')
      }
    }))

  it('two logins: neither counts, though each of them is right', () =>
    attacking(
      async target => {
        const login: readonly [string, string] = ['Authorization', `Basic ${encode('platform:a good password')}`]
        expect(await target.send({ method: 'GET', path: '/v2/catalog', headers: [login] })).toMatchObject({
          status: 200,
        })
        expectRefusal(await target.send({ method: 'GET', path: '/v2/catalog', headers: [login, login] }), 401)
      },
      { authenticator: basic() },
    ))

  it('two cookies, a flood of forwarding headers, and the method in a header change nothing', () =>
    attacking(async target => {
      const headers = [
        ['Set-Cookie', 'a=1'],
        ['Set-Cookie', 'b=2'],
        ['Cookie', 'a=1'],
        ['Cookie', 'b=2'],
        ['X-HTTP-Method-Override', 'DELETE'],
        ['X-Original-URL', instance('i')],
        ...Array.from({ length: 300 }, () => ['X-Forwarded-For', '127.0.0.1'] as const),
      ] as const
      expect(await target.send({ method: 'GET', path: '/v2/catalog', headers })).toMatchObject({ status: 200 })
    }))
})

describe('a flood of headers', () => {
  it.each([
    ['one that is too long', [['X-Long', 'x'.repeat(20_000)]]],
    ['too many', Array.from({ length: 5000 }, (_, index) => [`X-${index}`, 'x'])],
    ['one name over and over', Array.from({ length: 5000 }, () => ['X-Same', 'x'])],
    ['a name that is too long', [['X'.repeat(20_000), 'x']]],
  ] as [string, RawRequest['headers'] & object][])('%s: 431', (_, headers) =>
    attacking(async target => {
      expectRefusal(await target.send({ method: 'GET', path: '/v2/catalog', headers }), 431, 'HeadersTooLarge')
    }),
  )
})

describe('without a login', () => {
  const bad: readonly (readonly [string, string])[][] = [
    [],
    [['Authorization', '']],
    [['Authorization', 'Basic']],
    [['Authorization', 'Basic !!!']],
    [['Authorization', `Basic ${encode('no colon')}`]],
    [['Authorization', `Basic ${encode('platform:wrong')}`]],
    [['Authorization', `Basic ${encode('__proto__:x')}`]],
    [['Authorization', `Basic ${encode('platform:a good password\u0000')}`]],
    [['Authorization', `Bearer ${encode('platform:a good password')}`]],
    [['Authorization', `Basic ${'A'.repeat(10_000)}`]],
  ]

  it.each(bad)('%j is told nothing but 401, whatever else is wrong', header =>
    attacking(
      async target => {
        const headers = [...(header === undefined ? [] : [header]), ['X-Broker-API-Request-Identity', 'r-1'] as const]
        const requests: readonly RawRequest[] = [
          { method: 'GET', path: '/v2/catalog' },
          { method: 'GET', path: '/v2/nothing' },
          { method: 'GET', path: '/nothing' },
          { method: 'GET', path: instance('%zz') },
          { method: 'GET', path: `${instance('i')}?service_id=a&service_id=b` },
          { method: 'TRACE', path: '/v2/catalog' },
          { method: 'PUT', path: instance('i'), body: '{' },
          { method: 'PUT', path: instance('i'), body },
          { method: 'DELETE', path: instance('i') },
        ]
        for (const request of requests) {
          for (const version of ['2.17', '1.0', '']) {
            const sent = [...headers, ['X-Broker-API-Version', version] as const]
            const answer = await target.send({ ...request, headers: sent })
            expectRefusal(answer, 401, 'Unauthorized')
            expect(answer.headers).toMatchObject({
              'www-authenticate': expect.stringContaining('Basic'),
              'x-broker-api-request-identity': 'r-1',
            })
          }
        }
        expect(await target.store.history('i')).toEqual([])
      },
      { authenticator: basic() },
    ),
  )

  it('10 MB are refused by the login, before they are read', () =>
    attacking(
      async target => {
        const large = 'x'.repeat(10 * 1024 * 1024)
        expectRefusal(await target.send({ method: 'PUT', path: instance('i'), body: large }), 401)
        expectRefusal(await target.send({ method: 'PUT', path: instance('i'), body: large, chunked: 65_536 }), 401)
      },
      { authenticator: basic() },
    ))

  it('who has another role is refused as well', () =>
    attacking(
      async target => {
        const headers = [['Authorization', `Basic ${encode('viewer:another password')}`]] as const
        expectRefusal(await target.send({ method: 'GET', path: '/v2/catalog', headers }), 401)
      },
      { authenticator: basic() },
    ))
})

function basic() {
  return createBasicAuthenticator([
    { username: 'platform', password: 'a good password', platform: 'cf', roles: ['platform'] },
    { username: 'viewer', password: 'another password', platform: 'cf', roles: ['viewer'] },
  ])
}
