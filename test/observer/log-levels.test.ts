import { describe, expect, it, onTestFinished } from 'vitest'
import { createBasicAuthenticator } from '../../src/authenticator/basic.ts'
import type { Role } from '../../src/authenticator.ts'
import { openBroker } from '../../src/create-broker.ts'
import { logAreas } from '../../src/observer/levels.ts'
import { createLog } from '../../src/observer/log.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { ids, seconds, serviceOf } from '../engine/world.ts'

const trace = '0af7651916cd43dd8448eb211c80319c'

async function start(options: { readonly log?: boolean } = {}) {
  const clock = createVirtualClock()
  const written: string[] = []
  const stream = { write: (text: string) => void written.push(text) }
  const log = createLog({ format: 'json', level: 'info', areas: { chore: 'off' }, stream })
  const roles: readonly Role[] = ['platform', 'viewer', 'admin']
  const authenticator = createBasicAuthenticator(
    roles.map(role => ({ username: role, password: 'x', platform: 'default', roles: [role] })),
  )
  const service = serviceOf({
    async provision(ctx) {
      await ctx.step('create', () => 1)
      ctx.log.info('made it')
    },
  })
  const settings = { osb: { requireOrgAndSpace: false } } as const
  const store = createMemoryStore({ clock })
  const parts = options.log === false ? {} : { log: log.levels }
  const broker = openBroker(
    { services: [service] },
    { store, authenticator, settings, clock, observer: log.observer },
    parts,
  )
  await broker.start()
  onTestFinished(() => broker.close(0))
  const send = (user: string, method: string, path: string, body?: object) =>
    broker.fetch(
      new Request(`http://broker.test${path}`, {
        method,
        body: body && JSON.stringify(body),
        headers: {
          authorization: `Basic ${btoa(`${user}:x`)}`,
          'content-type': 'application/json',
          'x-broker-api-version': '2.17',
          'x-broker-api-request-identity': 'request-1',
          traceparent: `00-${trace}-b7ad6b7169203331-01`,
        },
      }),
    )
  const lines = () => {
    // All that waits is written with an error.
    log.observer['server.failed']?.({ error: new Error('for this test') })
    const found = written.join('').split('\n').filter(Boolean)
    written.length = 0
    return found.map(line => JSON.parse(line) as Record<string, unknown>).slice(0, -1)
  }
  return { clock, send, lines }
}

const provision = '/v2/service_instances/i?accepts_incomplete=true'

describe('lines of the log', () => {
  it('have the request, the operation, the fence and the trace', async () => {
    const { clock, send, lines } = await start()
    const { operation } = (await (await send('platform', 'PUT', provision, ids)).json()) as { operation: string }
    await clock.advance(seconds(1))
    const told = lines()
    const line = (event: string) => told.find(each => each.event === event)
    expect(line('request.ended')).toMatchObject({ status: 202, requestId: 'request-1', operationId: operation, trace })
    for (const event of ['author.log', 'operation.succeeded'])
      expect(line(event)).toMatchObject({ operationId: operation, requestId: 'request-1', fence: 1, trace })
    await send('nobody', 'GET', '/v2/catalog')
    expect(lines().map(({ event, trace }) => [event, trace])).toEqual([
      ['authentication.failed', trace],
      ['request.ended', trace],
    ])
  })
})

describe('PUT /admin/log-levels', () => {
  it('changes what is logged from now on, area by area', async () => {
    const { send, lines } = await start()
    const read = async (body: object) =>
      ((await (await send('admin', 'PUT', '/admin/log-levels', body)).json()) as { levels: Record<string, string> })
        .levels
    const before = await read({})
    expect(Object.keys(before).sort()).toEqual([...logAreas].sort())
    expect(before).toMatchObject({ request: 'info', chore: 'off' })
    lines()

    expect(await read({ request: 'off' })).toMatchObject({ request: 'off', operation: 'info' })
    expect(lines().map(({ event }) => event)).toEqual(['log.levelsChanged'])
    await send('platform', 'GET', '/v2/catalog')
    expect(lines()).toEqual([])
    expect(await read({ all: 'error', request: 'info' })).toMatchObject({ request: 'info', operation: 'error' })
    await send('platform', 'GET', '/v2/catalog')
    expect(lines().map(({ event }) => event)).toEqual(['request.ended', 'request.ended'])
  })

  it('is for admins, and refuses what it does not know', async () => {
    const { send } = await start()
    const status = async (user: string, body: object) => (await send(user, 'PUT', '/admin/log-levels', body)).status
    expect(await status('platform', {})).toBe(403)
    expect(await status('viewer', {})).toBe(403)
    expect(await status('admin', { request: 'loud' })).toBe(400)
    expect(await status('admin', { dishes: 'info' })).toBe(400)
  })

  it('is not there where the application writes the log', async () => {
    const { send } = await start({ log: false })
    expect((await send('admin', 'PUT', '/admin/log-levels', {})).status).toBe(404)
  })
})
