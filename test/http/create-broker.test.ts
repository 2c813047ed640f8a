import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createBasicAuthenticator } from '../../src/authenticator/basic.ts'
import { systemClock } from '../../src/clock.ts'
import { openBroker } from '../../src/create-broker.ts'
import { type Broker, type BrokerOptions, createBroker, defineBroker, type Service } from '../../src/index.ts'
import { type Observer, silent } from '../../src/observer.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import type { Store } from '../../src/store.ts'
import { ids, serviceOf } from '../engine/world.ts'
import { deferred } from './sockets.ts'

describe('createBroker', () => {
  it('starts with the first request', async () => {
    const broker = create()
    expect(await statusOf(broker)).toBe(200)
    expect(await statusOf(broker)).toBe(200)
  })

  it('starts once, however often it is asked', async () => {
    let opened = 0
    const store = memory({
      onWakeUp() {
        opened++
        return () => {}
      },
    })
    const broker = create({ store })
    await Promise.all([broker.start(), statusOf(broker), broker.start(), statusOf(broker)])
    await broker.start()
    expect(opened).toBe(1)
  })

  it('takes a URL, and closes the store that it opened from it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'purser-create-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const store = `sqlite:${join(folder, 'ledger.db')}`
    const first = create({ store })
    await first.start()
    await first.close()
    // A file that is still open would be refused.
    const second = create({ store })
    expect(await statusOf(second)).toBe(200)
  })

  it('takes a store of somebody else, and leaves it open', async () => {
    let closed = 0
    const store = memory({ close: async () => void closed++ })
    const broker = create({ store })
    expect(await statusOf(broker)).toBe(200)
    await broker.close()
    expect(closed).toBe(0)
  })

  it('runs as many operations at a time as its settings say', async () => {
    const waiting: (() => void)[] = []
    let most = 0
    const service: Partial<Service> = {
      async provision() {
        await new Promise<void>(resolve => {
          most = Math.max(most, waiting.push(resolve))
        })
      },
    }
    const broker = create({ settings: { engine: { concurrency: 2 }, osb: { requireOrgAndSpace: false } } }, [
      serviceOf(service),
    ])
    const accepted = await Promise.all(['a', 'b', 'c', 'd', 'e'].map(id => broker.fetch(provisionRequest(id))))
    expect(accepted.map(({ status }) => status)).toEqual([202, 202, 202, 202, 202])
    for (let ended = 0; ended < 5; ended++) {
      while (waiting.length < Math.min(2, 5 - ended)) await new Promise(resolve => setImmediate(resolve))
      waiting.shift()?.()
    }
    expect(most).toBe(2)
  })

  it('answers 503 once it is closed, and cannot start again', async () => {
    for (const started of [true, false]) {
      const broker = create()
      if (started) await broker.start()
      await broker.close()
      const answer = await broker.fetch(catalogRequest({ 'x-broker-api-request-identity': 'r-1' }))
      expect(answer.status).toBe(503)
      expect(answer.headers.get('x-broker-api-request-identity')).toBe('r-1')
      expect(await answer.json()).toEqual({ error: 'ShuttingDown', description: 'This broker was closed.' })
      await expect(broker.start()).rejects.toThrow('was closed')
    }
  })

  it('closes once, and whoever asks again waits for the same end', async () => {
    const broker = create()
    await broker.start()
    const [first, second] = [broker.close(), broker.close()]
    expect(second).toBe(first)
    await first
  })

  it('closed while it starts, it starts to the end and closes then', async () => {
    let listeners = 0
    const store = memory({
      onWakeUp() {
        listeners++
        return () => void listeners--
      },
    })
    const broker = create({ store })
    const started = broker.start()
    const closed = broker.close()
    await started
    await closed
    expect(listeners).toBe(0)
    expect(await statusOf(broker)).toBe(503)
  })

  it('a start that failed can be tried again; requests are answered 503 meanwhile, and the reason is logged', async () => {
    const said: string[] = []
    const statuses: number[] = []
    const observer: Observer = {
      'broker.startFailed': ({ error }) => void said.push(error.message),
      'request.ended': ({ status }) => void statuses.push(status),
    }
    const services = [serviceOf({ callTimeout: 'soon' as never })]
    const broker = create({ observer }, services)
    await expect(broker.start()).rejects.toThrow('soon')
    const answer = await broker.fetch(catalogRequest())
    expect(answer.status).toBe(503)
    expect(await answer.json()).toEqual({
      error: 'CannotStart',
      description: 'The broker cannot start now. Its log says why.',
    })
    expect(said).toEqual([expect.stringContaining('soon')])
    expect(statuses).toEqual([503])
    services[0] = serviceOf({})
    expect(await statusOf(broker)).toBe(200)
    await expect(broker.start()).resolves.toBeUndefined()
  })

  it('tells all mistakes of a definition and of its catalog at once', async () => {
    const services = [
      serviceOf({ description: '', bindable: true, observeEvery: 'soon' as never }),
      { id: 'b' } as never,
    ]
    const error = await create({}, services)
      .start()
      .catch(thrown => thrown)
    expect(error.message.split('\n')).toEqual([
      expect.stringMatching(/^the broker has \d+ problems:$/),
      expect.stringContaining('"observeEvery" must be a duration'),
      expect.stringContaining('service "b": "provision" is missing'),
      expect.stringContaining('service "b": "deprovision" is missing'),
      ...Array(error.message.split('\n').length - 4).fill(expect.stringMatching(/service "(service|b)": /)),
    ])
    expect(error.message).toContain('service "service": "description" is empty')
    expect(error.message).toContain('service "service": it is bindable but has no bind and unbind')
    expect(error.message).toContain('service "b": "plans" is missing')
  })

  it('a start that failed closes the store that it opened', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'purser-create-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const store = `sqlite:${join(folder, 'ledger.db')}`
    const services = [serviceOf({ callTimeout: 'soon' as never })]
    const broker = create({ store }, services)
    await expect(broker.start()).rejects.toThrow()
    expect(await statusOf(create({ store }))).toBe(200)
  })

  it('waits for requests that are being answered before it closes the store', async () => {
    const gate = deferred()
    const order: string[] = []
    const broker = createBroker(
      {
        services: [serviceOf({})],
        routes: [{ method: 'GET', path: '/slow', handle: () => gate.promise.then(() => new Response('done')) }],
      },
      { store: 'memory:', authenticator: 'none', observer: silent },
    )
    await broker.start()
    const answer = broker
      .fetch(new Request('http://localhost/slow'))
      .then(response => order.push(`answered ${response.status}`))
    const closed = broker.close().then(() => order.push('closed'))
    gate.resolve()
    await Promise.all([answer, closed])
    expect(order).toEqual(['answered 200', 'closed'])
  })

  it('that announces its stop is not ready, and goes on otherwise', async () => {
    const broker = openBroker(
      { services: [serviceOf({})] },
      { store: 'memory:', authenticator: 'none', observer: silent },
    )
    onTestFinished(() => broker.close())
    const ready = async () => (await broker.fetch(new Request('http://localhost/readyz'))).status
    const running = await broker.running()
    expect(await ready()).toBe(200)
    running.announceStop()
    expect([await ready(), await statusOf(broker)]).toEqual([503, 200])
  })

  it.each([
    [['files'], '"services"'],
    [[], 'mine'],
  ])('with the prefixes %j, /files/v2 below a route of the author answers %s', async (prefixes, answer) => {
    const route = { method: 'GET', path: '/files/*', handle: () => new Response('mine') }
    const broker = createBroker(
      { services: [serviceOf({})], routes: [route] },
      { store: 'memory:', authenticator: 'none', observer: silent, settings: { osb: { prefixes } } },
    )
    const headers = { 'X-Broker-API-Version': '2.17' }
    const ask = async (path: string) => (await broker.fetch(new Request(`http://localhost${path}`, { headers }))).text()
    expect(await ask('/files/a')).toBe('mine')
    expect(await ask('/files/v2/catalog')).toContain(answer)
    await broker.close()
  })

  it('needs to be told who may call', () => {
    for (const authenticator of [undefined, null, [], {}, 'everybody'])
      expect(() => create({ authenticator: authenticator as never })).toThrow(/authenticator: 'none'/)
  })

  it.each<[unknown[], string]>([
    [[{ services: [] }], 'it is missing; allowed: an object with store and authenticator'],
    [[undefined, {}], 'createBroker needs what defineBroker returns, not undefined.'],
    [[{ services: [] }, { setings: {} }], 'setings is not known here; did you mean settings?'],
    [
      [{ services: [] }, { observer: { 'operation.faild': () => {} } }],
      'observer."operation.faild" is not known here; did you mean operation.failed?',
    ],
    [
      [{ services: [] }, { observer: { 'operation.failed': 5 } }],
      'observer."operation.failed" found 5; allowed: a function',
    ],
    [[{ services: [] }, { clock: {} }], 'clock found a map; allowed: a Clock'],
    [[{ services: [] }, { bundles: 5 }], 'bundles found 5; allowed: an object with registries'],
  ])('names what is wrong with its arguments: %j', (given, problem) => {
    expect(() => Reflect.apply(createBroker, undefined, given)).toThrow(problem)
  })

  it('refuses a catalog that is none', async () => {
    const options = { store: 'memory:', authenticator: 'none', observer: silent } as const
    await expect(createBroker({ services: [], catalog: 5 as never }, options).start()).rejects.toThrow(
      '"catalog" must be the path of a file',
    )
  })

  it('needs a store', () => {
    for (const store of [undefined, null, {}, { accept() {} }])
      expect(() => create({ store: store as never })).toThrow(/needs a store/)
  })

  it.each<[object, string]>([
    [{}, 'bundles.registries: is missing; allowed: a list'],
    [{ registrys: [] }, 'bundles.registrys: is not known here; did you mean registries?'],
    [{ registries: 5 }, 'bundles.registries: found a number (not shown); allowed: a list'],
    [{ registries: [], runtimes: [{}] }, 'bundles.runtimes[0]: found a map; allowed: a Runtime'],
  ])('names what is wrong with bundles: %j', async (bundles, problem) => {
    await expect(create({ bundles: bundles as never }).start()).rejects.toThrow(problem)
  })

  it('lets several authenticators work side by side', async () => {
    const user = (name: string) =>
      createBasicAuthenticator([{ username: name, password: 'x', platform: name, roles: ['platform'] }])
    const broker = create({ authenticator: [user('a'), user('b')] })
    const ask = (name: string) =>
      broker.fetch(catalogRequest({ authorization: `Basic ${Buffer.from(`${name}:x`).toString('base64')}` }))
    expect((await ask('a')).status).toBe(200)
    expect((await ask('b')).status).toBe(200)
    expect((await ask('c')).status).toBe(401)
  })
})

describe('defineBroker', () => {
  it('is data', () => {
    const definition = { services: [serviceOf({})] }
    expect(defineBroker(definition)).toBe(definition)
  })
})

function create(options: Partial<BrokerOptions> = {}, services: readonly Service[] = [serviceOf({})]): Broker {
  const broker = createBroker({ services }, { store: 'memory:', authenticator: 'none', observer: silent, ...options })
  onTestFinished(() => broker.close())
  return broker
}

function memory(changes: Partial<Store>): Store {
  return Object.assign(createMemoryStore({ clock: systemClock }), changes)
}

function catalogRequest(headers: Record<string, string> = {}): Request {
  return new Request('http://localhost/v2/catalog', { headers: { 'x-broker-api-version': '2.17', ...headers } })
}

function provisionRequest(id: string): Request {
  return new Request(`http://localhost/v2/service_instances/${id}?accepts_incomplete=true`, {
    method: 'PUT',
    headers: { 'x-broker-api-version': '2.17', 'content-type': 'application/json' },
    body: JSON.stringify(ids),
  })
}

async function statusOf(broker: Broker): Promise<number> {
  return (await broker.fetch(catalogRequest())).status
}
