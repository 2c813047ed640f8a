/** One platform learns nothing of what another has: each route answers for it as for an id that nobody has. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { createBasicAuthenticator } from '../../src/authenticator/basic.ts'
import { TerminalError } from '../../src/index.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import type { Store } from '../../src/store.ts'
import { startTestBroker } from '../../src/testing/test-broker.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { serviceOf } from '../engine/world.ts'
import { osbDescription } from './osb-description.ts'

const ids = { service_id: 'service', plan_id: 'plan' }
const place = { organization_guid: 'org', space_guid: 'space' }
const incomplete = { acceptsIncomplete: true } as const

/** Instances of the platform `east` in every phase. Each has a binding `b` where it can have one. */
const phases = ['ready', 'creating', 'updating', 'deleting', 'failed', 'deleted', 'of a plan that left'] as const
const planOf = (id: string) => (id === 'of a plan that left' ? 'old' : 'plan')

const users = ['east', 'west'] as const

/** Tells how often the store was called: what takes another way takes another time. */
function counted(store: Store): { readonly store: Store; take(): readonly string[] } {
  let calls: string[] = []
  const handler: ProxyHandler<Store> = {
    get(target, key) {
      const value = Reflect.get(target, key)
      if (typeof value !== 'function') return value
      return (...given: unknown[]) => {
        // Gates are read once in a while, for whoever asks then.
        if (key !== 'notes') calls.push(String(key))
        return Reflect.apply(value, target, given)
      }
    },
  }
  return {
    store: new Proxy(store, handler),
    take() {
      const taken = calls
      calls = []
      return taken
    },
  }
}

async function start() {
  const clock = createVirtualClock()
  const { store, take } = counted(createMemoryStore({ clock }))
  const boot = (plans: readonly string[]) =>
    startTestBroker({
      store,
      clock,
      services: [
        serviceOf({
          plans: plans.map(id => ({ id, name: id, description: 'A plan' })),
          bindable: true,
          provision: async ctx => {
            if (ctx.instance.id === 'failed') throw new TerminalError('no room')
            return ctx.instance.id === 'creating' ? ctx.wait('9d', 'later') : {}
          },
          update: async ctx => ctx.wait('9d', 'later'),
          deprovision: async ctx => (ctx.instance.id === 'deleting' ? ctx.wait('9d', 'later') : undefined),
          bind: async () => ({ credentials: { user: 'of east' } }),
          unbind: async () => undefined,
        }),
      ],
      authenticator: createBasicAuthenticator(
        users.map(user => ({ username: user, password: 'x', platform: user, roles: ['platform'] })),
      ),
      settings: {
        osb: { prefixes: ['part'] },
        engine: { timeouts: { provision: '20d', update: '20d', deprovision: '20d', bind: '20d', unbind: '20d' } },
      },
    })
  const first = await boot(['plan', 'old'])
  const east = first.createClient({ username: 'east', password: 'x' })
  for (const id of phases) {
    await east.provision(id, { ...ids, plan_id: planOf(id), ...place }, incomplete)
    await clock.advance(1_000)
    if (id !== 'creating' && id !== 'failed') await east.bind(id, 'b', { ...ids, plan_id: planOf(id) }, incomplete)
    await clock.advance(1_000)
  }
  await east.update('updating', { service_id: 'service', parameters: { size: 2 } }, incomplete)
  for (const id of ['deleting', 'deleted']) await east.unbind(id, 'b', ids, incomplete)
  await clock.advance(5_000)
  for (const id of ['deleting', 'deleted']) await east.deprovision(id, ids, incomplete)
  await clock.advance(5_000)
  await first.stop()
  const rows = await Promise.all(phases.map(id => store.instance(id)))
  expect(rows.map(row => row?.phase)).toEqual(phases.map(id => (id === 'of a plan that left' ? 'ready' : id)))
  const broker = await boot(['plan'])
  onTestFinished(() => broker.stop())

  /** An answer as its receiver sees it, and how much was asked for it. */
  async function send(user: string, { method, path, body }: { method: string; path: string; body?: object }) {
    const headers = {
      authorization: `Basic ${btoa(`${user}:x`)}`,
      'x-broker-api-version': '2.17',
      'content-type': 'application/json',
    }
    take()
    const request = new Request(`${broker.url}${path}`, { method, headers, body: body && JSON.stringify(body) })
    const answer = await broker.fetch(request)
    const calls = take()
    return { status: answer.status, headers: [...answer.headers], body: await answer.text(), calls }
  }
  return { store, send, clock }
}

/** Every route of instances and bindings, with what it needs. */
const routes = Object.entries(osbDescription.paths).flatMap(([path, methods]) =>
  path.includes('{instance}') ? Object.keys(methods).map(method => [method.toUpperCase(), path] as const) : [],
)

interface More {
  readonly operation?: string
  readonly prefix?: string | undefined
  readonly plan?: string
  /** What the request lacks. */
  readonly without?: readonly string[]
}

function requestOf(
  method: string,
  path: string,
  instance: string,
  { operation, prefix = '', plan = 'plan', without = [] }: More = {},
) {
  const asked = { ...ids, plan_id: plan }
  const target = path.replace('{instance}', encodeURIComponent(instance)).replace('{binding}', 'b')
  const bodies: Readonly<Record<string, object>> = {
    PUT: { ...asked, ...place },
    PATCH: { ...asked, parameters: { size: 3 } },
  }
  const leave = (fields: object) => Object.entries(fields).filter(([name]) => !without.includes(name))
  const query = new URLSearchParams(leave({ ...asked, accepts_incomplete: 'true', ...(operation && { operation }) }))
  const body = bodies[method]
  return { method, path: `${prefix}${target}?${query}`, body: body && Object.fromEntries(leave(body)) }
}

/** What requests may lack: each of them takes another way through the code. */
const lacks = [[], ['service_id'], ['plan_id'], ['accepts_incomplete'], ['service_id', 'plan_id', 'accepts_incomplete']]

/** A new instance under a new id is made: that is no answer to be compared. A taken one is refused, which says that it is taken. */
const isCreation = (method: string, path: string) => method === 'PUT' && !path.includes('{binding}')

describe('what another platform has', () => {
  it('has all routes of the API to be asked by', () => {
    expect(routes).toHaveLength(9)
  })

  it.each(routes.filter(([method, path]) => !isCreation(method, path)))(
    '%s %s is answered as if there were nothing',
    async (method, path) => {
      const { store, send } = await start()
      const before = JSON.stringify(await Promise.all(phases.map(id => store.instance(id))))
      const cases = lacks.flatMap(without =>
        [undefined, '/part'].flatMap(prefix => phases.map(id => ({ id, prefix, plan: planOf(id), without }))),
      )
      for (const { id, ...more } of cases) {
        const foreign = await send('west', requestOf(method, path, id, more))
        const unknown = await send('west', requestOf(method, path, 'nobody', more))
        expect({ id, ...more, ...foreign }).toEqual({ id, ...more, ...unknown })
        // Under a prefix the owner is another platform, too.
        if (more.prefix !== undefined)
          expect(await send('east', requestOf(method, path, id, more))).toEqual(
            await send('east', requestOf(method, path, 'nobody', more)),
          )
      }
      expect(JSON.stringify(await Promise.all(phases.map(id => store.instance(id))))).toBe(before)
    },
  )

  it('PUT of its id is refused, and says no more than that it is taken', async () => {
    const { send } = await start()
    const answers = await Promise.all(
      phases.map(id => send('west', requestOf('PUT', '/v2/service_instances/{instance}', id))),
    )
    const [first] = answers
    expect(first?.status).toBe(409)
    expect(first?.body).not.toMatch(/east|service|plan/)
    for (const [index, { status, body }] of answers.entries())
      if (phases[index] !== 'deleted') expect([status, body]).toEqual([first?.status, first?.body])
  })

  it('its operations and bindings mean nothing beside what one has', async () => {
    const { store, send, clock } = await start()
    const own = '/v2/service_instances/own'
    await send('west', { method: 'PUT', path: `${own}?accepts_incomplete=true`, body: { ...ids, ...place } })
    await clock.advance(5_000)
    const of = (await store.instance('ready'))?.lastOperationId ?? ''
    const poll = async (operation: string) => {
      // Nobody guesses the id of an operation: how it is looked up is no secret.
      const { calls: _, ...answer } = await send(
        'west',
        requestOf('GET', `${own}/last_operation`, 'own', { operation }),
      )
      return answer
    }
    expect(await poll(of)).toEqual(await poll(of.replace(/.$/, last => (last === '0' ? '1' : '0'))))
    const rotate = (predecessor: string) =>
      send('west', {
        method: 'PUT',
        path: `${own}/service_bindings/new?accepts_incomplete=true`,
        body: { ...ids, predecessor_binding_id: predecessor },
      })
    expect(await rotate('b')).toEqual(await rotate('nobodys'))
  })
})
