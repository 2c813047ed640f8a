/**
 * A secret in every place where one can come from, through whole lives of instances with failures, retries and a crash. It is searched
 * for wherever people, programs or disks could have it.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { context, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createBasicAuthenticator } from '../../src/authenticator/basic.ts'
import { systemClock } from '../../src/clock.ts'
import { openBroker } from '../../src/create-broker.ts'
import { adminRoutes } from '../../src/http/admin/routes.ts'
import { combineObservers, createLogObserver, observeAll } from '../../src/index.ts'
import type { LogFormat } from '../../src/observer/log.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import type { Store } from '../../src/store.ts'
import { createCrashableStore } from '../../src/testing/crash-points.ts'
import { describeEncrypted } from '../store/encrypted-ledger.ts'
import { testKeyring } from '../store/test-keyring.ts'
import { createCanaries, expectHidden, note, type Seen } from './canaries.ts'
import { createTellingService, type Place, places, tellingHook } from './telling-service.ts'

const exporter = new InMemorySpanExporter()
beforeAll(() => {
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
})
afterAll(() => {
  trace.disable()
  context.disable()
  propagation.disable()
})

/** Who may see what: platforms what they asked for, and operators on whose behalf it was. */
const allowed: Readonly<Record<string, readonly Place[]>> = {
  'GET instance': ['parameter-unmarked'],
  'GET binding': ['credential', 'uri'],
  'PUT binding': ['credential', 'uri'],
  'GET /admin/instances/:id': ['identity'],
  'GET /admin/operations': ['identity'],
  'GET /admin/operations/:id': ['identity'],
  'GET /admin/operations/:id/timeline': ['identity'],
  'GET /admin/history': ['identity'],
  'GET /admin/history/entries': ['identity'],
}

const ids = { service_id: 'telling', plan_id: 'plan' }
const query = `service_id=telling&plan_id=plan&accepts_incomplete=true`

/** Lives a whole life on the store, and gives all that was seen of it. */
async function live(store: Store) {
  const canaries = createCanaries(places)
  const { of } = canaries
  const seen: Seen = new Map()
  const turns = new Map<string, number>()
  const logOf = (format: LogFormat) =>
    createLogObserver({ format, level: 'info', stream: { write: line => note(seen, `log: ${format}`, line) } })
  const events = observeAll((type, event) =>
    note(seen, `event ${type}`, inspect(event, { depth: 9, showHidden: true })),
  )
  const observer = combineObservers(logOf('json'), logOf('people'), events)
  let stuck = () => {}
  const isStuck = new Promise<void>(resolve => {
    stuck = resolve
  })
  const service = createTellingService(canaries, turns, () => stuck())

  function boot(ledger: Store) {
    return openBroker(
      { services: [service], hooks: [tellingHook] },
      {
        store: ledger,
        authenticator: createBasicAuthenticator([
          { username: 'all', password: of.login, platform: 'cf', roles: ['platform', 'admin'] },
        ]),
        observer,
        clock: systemClock,
        settings: {
          engine: {
            name: 'one',
            lease: '30s',
            pollInterval: '20ms',
            retry: { initial: '1ms', max: '10ms' },
            observeEvery: '1s',
          },
          osb: { requireOrgAndSpace: false },
          chores: { survey: '* * * * * *', observe: '* * * * * *' },
          traces: { mode: 'linked' },
        },
      },
    )
  }
  const crashable = createCrashableStore(store)
  let broker = boot(crashable.store)
  onTestFinished(() => broker.close())

  async function send(where: string, method: string, path: string, body?: object, more: Record<string, string> = {}) {
    const headers = {
      'x-broker-api-version': '2.17',
      'content-type': 'application/json',
      authorization: `Basic ${btoa(`all:${of.login}`)}`,
      cookie: `other=${of.cookie}`,
      'x-forwarded-secret': of.header,
      'x-broker-api-originating-identity': `cf ${btoa(JSON.stringify({ user_id: of.identity }))}`,
      ...more,
    }
    const url = `http://broker.test${path}${path.includes('?') ? '&' : '?'}`
    // The operators' API refuses what it does not know.
    const target = path.startsWith('/v2') ? `${url}x=${of.query}` : `http://broker.test${path}`
    const answer = await broker.fetch(new Request(target, { method, headers, body: body && JSON.stringify(body) }))
    const text = await answer.text()
    note(seen, where, `${answer.status} ${JSON.stringify([...answer.headers])} ${text}`)
    return {
      status: answer.status,
      text,
      body: (/^[{[]/.test(text) ? JSON.parse(text.split('\n')[0] ?? '') : {}) as Body,
    }
  }
  type Body = { operation?: string; state?: string }

  const instance = (id: string) => `/v2/service_instances/${id}`
  const binding = (id: string) => `${instance(id)}/service_bindings/b`
  /** Polls until the operation has ended. */
  async function ended(path: string): Promise<string | undefined> {
    for (;;) {
      const { body } = await send('poll', 'GET', `${path}/last_operation?${query}`)
      if (body.state !== 'in progress') return body.state
      await new Promise(resolve => setTimeout(resolve, 20))
    }
  }
  async function act(where: string, method: string, path: string, body?: object) {
    const answer = await send(where, method, `${path}?${query}`, body)
    return answer.status === 202 ? ended(path) : answer.status
  }

  const parameters = { secret: of.parameter, open: of['parameter-unmarked'] }
  // Refusals.
  expect(
    (await send('refusal', 'GET', '/v2/catalog', undefined, { authorization: `Basic ${btoa(`x:${of.header}`)}` }))
      .status,
  ).toBe(401)
  expect(
    (await send('refusal', 'GET', '/v2/catalog', undefined, { authorization: `Bearer ${of.header}` })).status,
  ).toBe(401)
  for (const wrong of [{ secret: { deep: of.parameter } }, { open: of.parameter, secret: [of.parameter] }])
    expect(await act('refusal', 'PUT', instance('wrong'), { ...ids, parameters: wrong })).toBe(400)

  // A crash in the middle of a step.
  const { status } = await send('PUT instance', 'PUT', `${instance('i')}?${query}`, {
    ...ids,
    parameters: { ...parameters, mode: 'crash' },
  })
  expect(status, seen.get('PUT instance')?.join()).toBe(202)
  await isStuck
  crashable.crash()
  void broker.close()
  broker = boot(store)
  expect(await ended(instance('i'))).toBe('succeeded')

  // Reads, of which one fails, and another life that fails.
  expect((await send('GET instance, failing', 'GET', instance('i'))).status).toBe(500)
  expect(await send('GET instance', 'GET', instance('i'))).toMatchObject({ status: 200 })
  expect(await act('PUT instance', 'PUT', instance('f'), { ...ids, parameters: { ...parameters, mode: 'fail' } })).toBe(
    'failed',
  )
  expect(await act('PUT binding', 'PUT', binding('i'), { ...ids, parameters: { pin: of['bind-parameter'] } })).toBe(
    'succeeded',
  )
  const fetched = await send('GET binding', 'GET', binding('i'))
  // Whom it is for reads it.
  expect(fetched.text).toContain(of.credential)
  const changed = { service_id: 'telling', parameters: { secret: of['parameter-new'] } }
  expect(await act('PATCH instance', 'PATCH', instance('i'), changed)).toBe('failed')

  // What operators see, of all of it.
  const seenObserved = () => [...(seen.get('event operation.succeeded') ?? [])].some(text => text.includes('observe'))
  while (!seenObserved()) await new Promise(resolve => setTimeout(resolve, 20))
  const operations = JSON.parse((await send('GET /admin/operations', 'GET', '/admin/operations')).text) as {
    items: { id: string }[]
  }
  expect(operations.items.length).toBeGreaterThan(3)
  const named: Readonly<Record<string, readonly string[]>> = {
    '/admin/instances/:id': ['i', 'f'],
    ...Object.fromEntries(
      ['', '/timeline', '/log'].map(rest => [`/admin/operations/:id${rest}`, operations.items.map(({ id }) => id)]),
    ),
  }
  for (const [key, { method }] of Object.entries(adminRoutes)) {
    if (method !== 'GET' || key === '/admin/events') continue
    for (const id of named[key] ?? ['provision'])
      await send(`GET ${key}`, 'GET', key.replace(/:\w+/, encodeURIComponent(id)))
  }
  await send('verb', 'POST', '/admin/instances/f/move', { reason: 'why' })
  const metrics = await send('metrics', 'GET', '/metrics')
  expect(metrics.text).toContain('purser_operations_finished_total')
  for (const page of ['/console', '/console/instances/i']) await send('console', 'GET', page)

  const kept = { instance: await store.instance('i'), binding: await store.binding('i', 'b') }
  expect(await act('DELETE binding', 'DELETE', binding('i'))).toBe('succeeded')
  for (const id of ['i', 'f']) expect(await act('DELETE instance', 'DELETE', instance(id))).toBe('succeeded')
  expect(seen.get('GET /admin/export')?.join()).toContain('"operation"')
  note(seen, 'history', JSON.stringify((await store.history('i')).map(({ identity: _, ...event }) => event)))
  const spans = exporter
    .getFinishedSpans()
    .map(({ name, attributes, events: notes, status: how }) => ({ name, attributes, notes, how }))
  expect(spans.length).toBeGreaterThan(10)
  note(seen, 'traces', inspect(spans, { depth: 9 }))
  await broker.close()
  return { canaries, seen, kept }
}

function check({ canaries, seen, kept }: Awaited<ReturnType<typeof live>>) {
  expectHidden(canaries, seen, allowed)
  // They were told of, and cut out.
  for (const where of ['log: json', 'log: people', 'event author.log', 'event step.failed', 'poll'])
    expect(seen.get(where)?.join(''), where).toContain('[redacted]')
  // And what is meant to be kept was.
  for (const place of ['parameter', 'state', 'credential', 'binding-state'] as const)
    expect(JSON.stringify(kept)).toContain(canaries.of[place])
}

describe('a canary: memory', () => {
  it('is in no log, trace, metric, error, page or export', async () => {
    check(await live(createMemoryStore({ clock: systemClock })))
  })
})

describeEncrypted('a canary', newLedger => {
  it('is in no log, trace, metric, error, page, export or file of the database', async () => {
    const ledger = newLedger()
    const store = await ledger.open(testKeyring('2026-a'))
    const life = await live(store)
    check(life)
    await store.close()
    expect(life.canaries.foundIn(await ledger.bytes())).toEqual([])
    const files = filesBelow(ledger.folder())
    expect(files.length).toBeGreaterThan(0)
    const leaks = files.flatMap(file =>
      life.canaries.foundIn(readFileSync(file, 'latin1')).map(place => `${place} in ${file}`),
    )
    expect(leaks).toEqual([])
  })
})

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map(name => join(folder, name))
    .filter(path => statSync(path, { throwIfNoEntry: false })?.isFile() === true)
}
