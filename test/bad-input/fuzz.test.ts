import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { attacking, type Target } from './target.ts'
import { type Answer, exchange, parseAnswers, type RawRequest } from './wire.ts'

const long = process.env.PURSER_TEST_LONG !== undefined
/** The same inputs every time, except in the long runs; a failure prints the seed it came from. */
const settings = { numRuns: long ? 20_000 : 500, ...(long ? {} : { seed: 217 }) }

/** Words of the API among words of nobody, so that the deeper code is reached as well. */
const word = fc.oneof(
  fc.constantFrom(
    'v2',
    'catalog',
    'service_instances',
    'service_bindings',
    'last_operation',
    'i',
    'b',
    '..',
    '.',
    '',
    'v2',
  ),
  fc.constantFrom('healthz', 'readyz', 'dashboards', '%2F', '%00', '%', '%F0%9F%9A%80', '%C3', '__proto__', 'cf'),
  fc.string({ unit: 'binary', maxLength: 20 }).map(text => encodeURIComponent(text.replace(/[\ud800-\udfff]/g, '?'))),
  fc.stringMatching(/^[!-~]{0,12}$/),
)
const known = fc.constantFrom(
  '/v2/catalog',
  '/v2/service_instances/i',
  '/v2/service_instances/i/last_operation',
  '/v2/service_instances/i/service_bindings/b',
  '/v2/service_instances/i/service_bindings/b/last_operation',
)
const path = fc.oneof(
  known,
  fc.array(word, { maxLength: 8 }).map(words => `/${words.join('/')}`),
)
const queryName = fc.constantFrom('service_id', 'plan_id', 'accepts_incomplete', 'operation', 'x', '%zz', '')
const queryValue = fc.oneof(fc.constantFrom('true', 'full', 'full-small', 'plain', '', '%', '+', '%00'), word)
const query = fc
  .array(fc.tuple(queryName, queryValue), { maxLength: 5 })
  .map(pairs => (pairs.length === 0 ? '' : `?${pairs.map(pair => pair.join('=')).join('&')}`))

const headerValue = fc.oneof(
  fc.stringMatching(/^[ -~]{0,40}$/),
  fc.stringMatching(/^[\u0080-\u00ff]{0,10}$/),
  fc.constantFrom(
    '2.17',
    '2.13',
    '3.0',
    'application/json',
    'text/plain',
    'cloudfoundry e30=',
    '*',
    '"x"',
    '100-continue',
  ),
)
const headerName = fc.oneof(
  fc.constantFrom('X-Broker-API-Version', 'X-Broker-API-Originating-Identity', 'X-Broker-API-Request-Identity'),
  fc.constantFrom(
    'Content-Type',
    'If-None-Match',
    'Authorization',
    'Accept',
    'Expect',
    'Cookie',
    'Set-Cookie',
    'Range',
  ),
  fc
    .stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,15}$/)
    .filter(name => !/^(content-length|transfer-encoding|host|connection|upgrade|te|trailer)$/i.test(name)),
)

const envelope = fc.record(
  {
    service_id: oneOrAny('full', 'plain', 'always-async', 'client'),
    plan_id: oneOrAny('full-small', 'full-large', 'plain-plan', 'always-async-plan', 'client-plan'),
    organization_guid: oneOrAny('org-1'),
    space_guid: oneOrAny('space-1'),
    context: fc.oneof(fc.constant({ platform: 'cloudfoundry' }), fc.jsonValue()),
    parameters: fc.oneof(fc.constant({ size: 2 }), fc.constant({}), fc.jsonValue()),
    maintenance_info: fc.oneof(fc.constant({ version: '2.0.0' }), fc.jsonValue()),
    previous_values: fc.jsonValue(),
    bind_resource: fc.oneof(fc.constant({ app_guid: 'a' }), fc.jsonValue()),
    app_guid: oneOrAny('a'),
    predecessor_binding_id: oneOrAny('b'),
  },
  { requiredKeys: [] },
)
const good = { service_id: 'full', plan_id: 'full-small', organization_guid: 'org-1', space_guid: 'space-1' }
const ids = 'service_id=full&plan_id=full-small'
const body = fc.oneof(
  fc.constant(good).map(value => JSON.stringify(value)),
  envelope.map(value => JSON.stringify({ ...good, ...value })),
  envelope.map(value => JSON.stringify(value)),
  fc.json(),
  fc.string(),
  fc.uint8Array({ maxLength: 200 }),
)

const wild = fc.record<RawRequest>(
  {
    method: fc.oneof(
      fc.constantFrom('GET', 'PUT', 'PATCH', 'DELETE', 'PUT'),
      fc.constantFrom('HEAD', 'POST', 'OPTIONS', 'TRACE', 'PROPFIND', 'get', 'BREW'),
      fc.stringMatching(/^[!-~]{1,10}$/),
    ),
    path: fc.tuple(path, query).map(parts => parts.join('')),
    headers: fc.array(fc.tuple(headerName, headerValue), { maxLength: 6 }),
    body,
    chunked: fc.integer({ min: 1, max: 50 }),
  },
  { requiredKeys: ['method', 'path'] },
)

/** What could have come from a platform, but for one thing or another. */
const plausible = fc.record<RawRequest>({
  method: fc.constantFrom('GET', 'PUT', 'PATCH', 'DELETE', 'PUT'),
  path: fc
    .tuple(known, fc.oneof(fc.constantFrom('', `?${ids}`, `?${ids}&accepts_incomplete=true`), query))
    .map(both => both.join('')),
  body,
})
const request = fc.oneof(wild, plausible)

describe('whatever is sent', { timeout: long ? 3_600_000 : 60_000 }, () => {
  it('never a 5xx, and always a JSON object', () =>
    attacking(async target => {
      const seen = new Set<number>()
      await fc.assert(
        fc.asyncProperty(request, async raw => {
          const answer = await target.send(raw)
          seen.add(answer.status)
          expectSound(answer, raw.method)
        }),
        settings,
      )
      // The inputs reach what they are meant to reach.
      for (const status of [200, 201, 202, 400, 404, 405, 412]) expect(seen).toContain(status)
      await expectConsistent(target)
    }))

  it('several at the same time: the same', () =>
    attacking(async target => {
      await fc.assert(
        fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 5 }), async raws => {
          const answers = await Promise.all(raws.map(raw => target.send(raw)))
          answers.forEach((answer, index) => {
            expectSound(answer, raws[index]?.method ?? '')
          })
        }),
        { ...settings, numRuns: settings.numRuns / 5 },
      )
      await expectConsistent(target)
    }))

  it('even if it is not HTTP: a 4xx, or nothing', () =>
    attacking(async target => {
      const piece = fc.oneof(
        fc.uint8Array({ maxLength: 100 }),
        fc.constantFrom(
          'GET / HTTP/1.1\r\n',
          'Host: x\r\n',
          '\r\n',
          '\r\n\r\n',
          'Content-Length: 5\r\n',
          'PUT ',
          ' HTTP/1.1',
        ),
        fc.constantFrom(
          'Transfer-Encoding: chunked\r\n',
          '5\r\n',
          '0\r\n\r\n',
          'X-Broker-API-Version: 2.17\r\n',
          '{',
          '}',
          '\u0000',
        ),
      )
      await fc.assert(
        fc.asyncProperty(fc.array(piece, { maxLength: 10 }), async pieces => {
          const wire = Buffer.concat(pieces.map(part => Buffer.from(part)))
          const received = await exchange(target.port, wire, socket => socket.end())
          for (const answer of parseAnswers(received)) {
            expect(answer.status).toBeGreaterThanOrEqual(400)
            expectSound(answer, 'GET')
          }
        }),
        settings,
      )
    }))
})

function oneOrAny(...values: [string, ...string[]]) {
  return fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...values) }, fc.jsonValue())
}

function expectSound({ status, text, body: value, headers }: Answer, method: string): void {
  expect(status).toBeGreaterThanOrEqual(200)
  expect(status).toBeLessThan(500)
  if (method === 'HEAD' || status === 304) {
    expect(text).toBe('')
    return
  }
  expect(headers['content-type']).toBe('application/json')
  expect(value).toBeTypeOf('object')
  expect(value === null || Array.isArray(value)).toBe(false)
  if (status >= 400) expect(value).toMatchObject({ error: expect.any(String), description: expect.any(String) })
}

/** After all of it: what the ledger calls ready is there, and it still works. */
async function expectConsistent(target: Target): Promise<void> {
  await target.clock.advance(24 * 3_600_000)
  const row = await target.store.instance('i')
  expect(['ready', 'deleted', undefined]).toContain(row?.phase)
  expect(target.backend.things.has('instance:i')).toBe(row?.phase === 'ready')
  const path = '/v2/service_instances/afterwards'
  expect(await target.send({ method: 'PUT', path, body: JSON.stringify(good) })).toMatchObject({ status: 201 })
}
