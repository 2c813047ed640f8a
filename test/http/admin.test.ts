import { describe, expect, it, onTestFinished } from 'vitest'
import { createBasicAuthenticator } from '../../src/authenticator/basic.ts'
import type { Role } from '../../src/authenticator.ts'
import { startTestBroker, type TestBrokerOptions } from '../../src/testing/test-broker.ts'
import { serviceOf } from '../engine/world.ts'

const users: readonly (readonly [string, readonly Role[]])[] = [
  ['platform', ['platform']],
  ['viewer', ['viewer']],
  ['operator', ['operator']],
  ['admin', ['admin']],
]

interface AdminBody {
  readonly chores: readonly Readonly<Record<string, unknown>>[]
  readonly error?: string
  readonly detail?: string
}

async function start(options: Partial<TestBrokerOptions> = {}) {
  const authenticator = createBasicAuthenticator(
    users.map(([username, roles]) => ({ username, password: 'x', platform: 'default', roles })),
  )
  const broker = await startTestBroker({ services: [serviceOf({})], authenticator, ...options })
  onTestFinished(() => broker.stop())
  const send = async (user: string | undefined, method: string, path: string) => {
    const headers: Record<string, string> = user === undefined ? {} : { authorization: `Basic ${btoa(`${user}:x`)}` }
    const response = await broker.fetch(new Request(`${broker.url}${path}`, { method, headers }))
    const body = (await response.json()) as AdminBody
    return { status: response.status, headers: response.headers, body }
  }
  return { ...broker, send }
}

describe('GET /admin/chores', () => {
  it('lists every chore with its schedule and how its latest run went', async () => {
    const chores = { timeZone: 'Europe/Berlin', cleanUp: { bindings: { failed: '0 0 4 * * *' } } }
    const { send, clock } = await start({ settings: { chores } })
    const { status, body } = await send('viewer', 'GET', '/admin/chores')
    expect(status).toBe(200)
    expect(body.chores.map(({ name, pattern }) => `${name} ${pattern ?? 'off'}`)).toEqual([
      'observe off',
      'purge 30 * * * *',
      'clean-up-instances-all off',
      'clean-up-instances-succeeded off',
      'clean-up-instances-failed off',
      'clean-up-bindings-all off',
      'clean-up-bindings-succeeded off',
      'clean-up-bindings-failed 0 0 4 * * *',
      'survey */30 * * * * *',
      'history */15 * * * * *',
      'batches * * * * *',
      'expiry * * * * *',
    ])
    expect(body.chores[7]).toEqual({
      name: 'clean-up-bindings-failed',
      pattern: '0 0 4 * * *',
      time_zone: 'Europe/Berlin',
      next_at: '2026-01-01T03:00:00.000Z',
      running: false,
      late: false,
    })
    await clock.advance(31 * 60_000)
    const later = await send('operator', 'GET', '/admin/chores')
    expect(later.body.chores[1]).toMatchObject({
      running: false,
      due_at: '2026-01-01T00:30:00.000Z',
      started_at: '2026-01-01T00:30:00.000Z',
      finished_at: '2026-01-01T00:30:00.000Z',
      next_at: '2026-01-01T01:30:00.000Z',
      owner: expect.any(String),
      ok: true,
      message: 'nothing to do',
    })
  })

  it('observes by itself where a service can be observed', async () => {
    const { send } = await start({ services: [serviceOf({ observe: async () => ({ ready: true }) })] })
    expect((await send('viewer', 'GET', '/admin/chores')).body.chores[0]).toMatchObject({
      name: 'observe',
      pattern: '*/5 * * * * *',
    })
  })
})

describe('POST /admin/chores/:name/runs', () => {
  it('runs a chore now, one that is off too, without a version header', async () => {
    const { send, clock } = await start()
    await clock.advance(1_000)
    expect(await send('operator', 'POST', '/admin/chores/clean-up-instances-all/runs')).toMatchObject({
      status: 202,
      body: { name: 'clean-up-instances-all', started: true, due_at: '2026-01-01T00:00:01.000Z' },
    })
    await clock.advance(0)
    expect((await send('viewer', 'GET', '/admin/chores')).body.chores[2]).toMatchObject({
      due_at: '2026-01-01T00:00:01.000Z',
      running: false,
      ok: true,
    })
  })

  it('stands in the history; what was refused does not', async () => {
    const { send, clock, store } = await start()
    await clock.advance(1_000)
    for (const name of ['survey', 'nobody']) await send('operator', 'POST', `/admin/chores/${name}/runs`)
    expect(await store.history('')).toMatchObject([
      { type: 'acted', verb: 'run-chore', by: 'operator', after: { chore: 'survey' } },
    ])
  })

  it('409 while it runs somewhere, 404 with the names for another', async () => {
    const { send, clock, store } = await start()
    await clock.advance(1_000)
    await store.takeChore({ name: 'purge', dueAt: clock.now() - 1, owner: 'another replica', leaseTime: 30_000 })
    expect(await send('operator', 'POST', '/admin/chores/purge/runs')).toMatchObject({
      status: 409,
      body: { error: 'ChoreRunning', detail: expect.stringContaining('running already') },
    })
    const unknown = await send('operator', 'POST', '/admin/chores/sw%65p/runs')
    expect(unknown).toMatchObject({ status: 404, body: { error: 'UnknownChore' } })
    expect(unknown.body.detail).toMatch(/^There is no chore "swep"\. There are observe, purge, /)
    expect((await send('operator', 'POST', '/admin/chores/%/runs')).status).toBe(404)
  })
})

it('POST /admin/registries/sync says so where no registry is configured', async () => {
  const { send } = await start()
  expect((await send('operator', 'POST', '/admin/registries/sync')).body).toMatchObject({
    error: 'VerbRefused',
    detail: 'No registry is configured, so there is none to ask. Name one under registries in the configuration.',
  })
})

describe('who may', () => {
  it.each([
    ['viewer', 'retry', 403],
    ['operator', 'retry', 202],
    ['operator', 'move', 403],
    ['operator', 'abandon', 403],
    ['admin', 'abandon', 202],
  ])('%s a batch of %s: %i', async (user, action, status) => {
    const { url, fetch } = await start()
    const body = JSON.stringify({ action, ids: ['x'], reason: 'why' })
    const headers = { authorization: `Basic ${btoa(`${user}:x`)}`, 'content-type': 'application/json' }
    const response = await fetch(new Request(`${url}/admin/batches`, { method: 'POST', headers, body }))
    expect(response.status).toBe(status)
  })

  it.each([
    [undefined, 'GET', '/admin/chores', 401],
    ['nobody', 'GET', '/admin/chores', 401],
    ['platform', 'GET', '/admin/chores', 403],
    ['viewer', 'GET', '/admin/chores', 200],
    ['operator', 'GET', '/admin/chores', 200],
    [undefined, 'POST', '/admin/chores/purge/runs', 401],
    ['platform', 'POST', '/admin/chores/purge/runs', 403],
    ['viewer', 'POST', '/admin/chores/purge/runs', 403],
    ['operator', 'POST', '/admin/chores/purge/runs', 202],
    ['operator', 'GET', '/v2/catalog', 401],
    ['operator', 'PUT', '/admin/chores', 405],
    ['operator', 'GET', '/admin/chores/purge/runs', 405],
    ['operator', 'GET', '/admin', 404],
    ['operator', 'GET', '/admin/chores/', 404],
    ['operator', 'GET', '/admin/chores/purge', 404],
    ['operator', 'POST', '/admin/chores/purge/runs/1', 404],
    ['platform', 'GET', '/admin/registries', 403],
    ['viewer', 'GET', '/admin/registries', 200],
    ['viewer', 'POST', '/admin/registries/sync', 403],
    ['operator', 'POST', '/admin/registries/sync', 409],
    ['operator', 'GET', '/admin/registries/sync', 405],
    ['operator', 'GET', '/admin/registries/other', 404],
    ['platform', 'GET', '/admin/operations/x/log', 403],
    ['viewer', 'GET', '/admin/operations/x/log', 404],
    ['viewer', 'GET', '/admin/operations//log', 404],
    ['admin', 'GET', '/admin/chores', 200],
    ['admin', 'POST', '/admin/chores/purge/runs', 202],
    ['admin', 'GET', '/v2/catalog', 401],
    ['platform', 'GET', '/admin/instances', 403],
    ['platform', 'GET', '/admin/bindings', 403],
    ['platform', 'GET', '/admin/operations', 403],
    ['viewer', 'GET', '/admin/instances', 200],
    ['viewer', 'GET', '/admin/instances/x', 404],
    ['viewer', 'GET', '/admin/bindings', 200],
    ['viewer', 'GET', '/admin/operations', 200],
    ['viewer', 'GET', '/admin/operations/x', 404],
    ['viewer', 'GET', '/admin/operations/x/timeline', 404],
    ['viewer', 'POST', '/admin/operations/x/retry', 403],
    ['viewer', 'POST', '/admin/operations/x/cancel', 403],
    ['viewer', 'POST', '/admin/operations/x/fail', 403],
    ['viewer', 'POST', '/admin/operations/x/run-now', 403],
    ['operator', 'POST', '/admin/operations/x/retry', 404],
    ['operator', 'POST', '/admin/operations/x/cancel', 404],
    ['operator', 'POST', '/admin/operations/x/fail', 400],
    ['operator', 'POST', '/admin/operations/x/run-now', 404],
    ['operator', 'POST', '/admin/instances/x/move', 403],
    ['operator', 'POST', '/admin/instances/x/abandon', 403],
    ['admin', 'POST', '/admin/instances/x/move', 400],
    ['admin', 'POST', '/admin/instances/x/abandon', 400],
  ])('%s: %s %s -> %i', async (user, method, path, expected) => {
    const { send, clock } = await start()
    await clock.advance(1_000)
    const { status, headers, body } = await send(user, method, path)
    expect(status).toBe(expected)
    if (status >= 400 && path.startsWith('/admin')) {
      expect(body).toMatchObject({ status, error: expect.any(String), detail: expect.any(String) })
      expect(headers.get('content-type')).toBe('application/problem+json')
    }
    if (status === 401) expect(headers.get('www-authenticate')).toContain('Basic')
  })

  it('a 403 says which role is missing and where roles are set', async () => {
    const { send } = await start()
    const { body } = await send('viewer', 'POST', '/admin/chores/purge/runs')
    expect(body).toEqual({
      type: 'urn:purser:error:Forbidden',
      title: 'Forbidden',
      status: 403,
      error: 'Forbidden',
      detail: 'This needs the role operator or admin; these credentials have viewer. Roles are set in auth.',
    })
  })

  it('has no OSB API below it', async () => {
    const { send } = await start()
    expect((await send('platform', 'GET', '/admin/v2/catalog')).status).toBe(404)
  })
})
