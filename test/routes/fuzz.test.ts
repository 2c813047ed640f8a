/** Every route of the broker gets what its description allows, and what it does not: no failure of the broker, and no request without an end. */
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createBasicAuthenticator } from '../../src/authenticator/basic.ts'
import { toOpenApi } from '../../src/http/admin/openapi/document.ts'
import { adminRoutes } from '../../src/http/admin/routes.ts'
import { createRoutes } from '../../src/http/routes.ts'
import { TerminalError } from '../../src/index.ts'
import { observeLines } from '../../src/observer/log.ts'
import { startTestBroker, type TestBroker } from '../../src/testing/test-broker.ts'
import { serviceOf } from '../engine/world.ts'
import { type Description, requestsOf, type Sent, type Words } from './described.ts'
import { osbDescription } from './osb-description.ts'

const long = process.env.PURSER_TEST_LONG !== undefined
/** Of both APIs together. The same ones every time, except in the long runs; a failure prints its seed. */
const requests = long ? 100_000 : 3_000
const settings = { numRuns: requests / 2, ...(long ? {} : { seed: 411 }) }

const adminDescription = toOpenApi(adminRoutes, '1.0.0') as unknown as Description

async function start() {
  const troubles: unknown[] = []
  const service = serviceOf({
    bindable: true,
    async provision(ctx) {
      // Nothing is done by then: also where the request waits for it, it is its own mistake.
      if (ctx.instance.id === 'failing') throw new TerminalError('no room', { status: 422 })
      await ctx.step('one', () => 1)
      if (ctx.instance.id === 'slow') return ctx.wait('1h', 'it takes long')
      return { state: { made: true } }
    },
    async update() {},
    async bind() {
      return { credentials: { user: 'u' } }
    },
    async unbind() {},
    async observe() {
      return { ready: true }
    },
  })
  const broker = await startTestBroker({
    services: [service],
    authenticator: createBasicAuthenticator([
      { username: 'all', password: 'x', platform: 'cf', roles: ['platform', 'admin'] },
    ]),
    observer: observeLines('error', ({ event, fields }) => troubles.push(event, fields)),
    settings: { osb: { requireOrgAndSpace: false } },
  })
  onTestFinished(() => broker.stop())
  return { broker, troubles }
}

/** The answer, while time passes: a request that is not answered within an hour of it hangs. */
async function answered({ fetch, clock, url }: TestBroker, { method, path, headers, body }: Sent): Promise<Response> {
  const isRead = method === 'GET' || method === 'HEAD'
  const request = new Request(`${url}${path}`, {
    method,
    headers: {
      authorization: `Basic ${btoa('all:x')}`,
      'x-broker-api-version': '2.17',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(isRead || body === undefined ? {} : { body }),
  })
  let answer: Response | undefined
  let failure: unknown
  const answering = fetch(request).then(
    found => {
      answer = found
    },
    error => {
      failure = error
    },
  )
  for (let turns = 0; answer === undefined && failure === undefined && turns < 360; turns += 1) {
    await Promise.race([answering, new Promise(resolve => setImmediate(resolve))])
    if (answer === undefined && turns > 3) await clock.advance(10_000)
  }
  if (answer === undefined) throw failure ?? new Error('there is no answer')
  return answer
}

/** What there is in the broker, by the names that requests have for it. */
function wordsFor(operationId: string): Words {
  const known: Readonly<Record<string, readonly string[]>> = {
    service_id: ['service'],
    plan_id: ['plan'],
    instance: ['i', 'slow', 'failing', 'n', 'o', 'p'],
    instance_id: ['i', 'slow'],
    binding: ['b', 'c'],
    binding_id: ['b'],
    predecessor_binding_id: ['b'],
    operation: [operationId],
    id: ['i', 'slow', 'failing', operationId],
    ids: ['i', 'failing', operationId],
    action: ['provision', 'bind'],
    name: ['purge', 'observe'],
    platform: ['cf'],
    reason: ['why'],
  }
  return name =>
    fc.constantFrom(...(known[name] ?? ['i', 'b', 'one', 'cf', 'why', '2026-01-01T00:00:00Z', operationId]))
}

describe('whatever is sent to the routes', { timeout: long ? 3_600_000 : 180_000 }, () => {
  it.each([
    ['OSB API', osbDescription],
    ["operators' API", adminDescription],
  ])('of the %s: no 5xx, and an answer', async (name, description) => {
    const { broker, troubles } = await start()
    // There is something to be found.
    const place = { service_id: 'service', plan_id: 'plan' }
    for (const id of ['i', 'slow', 'failing'])
      await broker.createClient({ username: 'all', password: 'x' }).provision(id, place, { acceptsIncomplete: true })
    await broker.clock.advance(5_000)
    const { body } = await broker.createClient({ username: 'all', password: 'x' }).bind('i', 'b', place)
    expect(body).toMatchObject({ credentials: { user: 'u' } })
    const found = await broker.store.instance('i')
    const words = wordsFor(found?.lastOperationId ?? '')
    const statuses = new Map<number, number>()
    await fc.assert(
      fc.asyncProperty(requestsOf(description, words), async sent => {
        const answer = await answered(broker, sent)
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
        const type = answer.headers.get('content-type') ?? ''
        // A stream has no end.
        const isStream = type.startsWith('text/event-stream')
        const text = isStream ? '' : await answer.text()
        if (isStream) await answer.body?.cancel()
        expect(answer.status, text).toBeLessThan(500)
        if (answer.status >= 400 && sent.method !== 'HEAD') expect(JSON.parse(text)).toBeTypeOf('object')
      }),
      settings,
    )
    expect(troubles).toEqual([])
    // They reach what they are meant to reach.
    for (const status of name === 'OSB API' ? [200, 201, 202, 400, 404, 409, 410, 412, 422] : [200, 202, 400, 404, 409])
      expect([...statuses.keys()]).toContain(status)
  })

  it('they are all there', () => {
    const routesOf = ({ paths }: Description) =>
      Object.entries(paths).map(([path, methods]) => [path, Object.keys(methods).sort()])
    const routes = Object.entries(createRoutes(undefined)).map(([path, methods]) => [
      path.replaceAll(/:(\w+)/g, '{$1}'),
      Object.keys(methods)
        .map(method => method.toLowerCase())
        .sort(),
    ])
    expect(routesOf(osbDescription)).toEqual(routes)
    const admin = Object.entries(adminRoutes).length
    expect(routesOf(adminDescription).flatMap(([, methods]) => methods)).toHaveLength(admin)
  })
})
