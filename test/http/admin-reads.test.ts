import { describe, expect, it, onTestFinished } from 'vitest'
import { createBasicAuthenticator } from '../../src/authenticator/basic.ts'
import { TerminalError } from '../../src/index.ts'
import { startTestBroker, type TestBrokerOptions } from '../../src/testing/test-broker.ts'
import { serviceOf } from '../engine/world.ts'

const users = (['platform', 'viewer', 'operator', 'admin'] as const).map(role => ({
  username: role,
  password: 'x',
  platform: 'default',
  roles: [role],
}))

type Body = Record<string, unknown> & { readonly items: readonly Record<string, unknown>[] }

async function start(options: Partial<TestBrokerOptions> = {}) {
  const authenticator = createBasicAuthenticator(users)
  const broker = await startTestBroker({ services: [serviceOf({})], authenticator, ...options })
  onTestFinished(() => broker.stop())
  const send = async (user: string, path: string, method = 'GET', given?: object) => {
    const headers = {
      authorization: `Basic ${btoa(`${user}:x`)}`,
      'x-broker-api-version': '2.17',
      'content-type': 'application/json',
    }
    const body = given && JSON.stringify(given)
    const response = await broker.fetch(new Request(`${broker.url}${path}`, { method, headers, body }))
    return { status: response.status, body: (await response.json()) as Body }
  }
  const provision = (id: string) =>
    send('platform', `/v2/service_instances/${id}?accepts_incomplete=true`, 'PUT', {
      service_id: 'service',
      plan_id: 'plan',
      organization_guid: 'o',
      space_guid: 's',
    })
  return { ...broker, send, provision }
}

describe('GET /admin/me', () => {
  it('says who asks, and what would be refused', async () => {
    const { send } = await start()
    const { status, body } = await send('operator', '/admin/me')
    expect(status).toBe(200)
    expect(body).toMatchObject({ name: 'operator', platform: 'default', roles: ['operator'], role: 'operator' })
    expect(body.allowed_actions).toMatchObject({
      'operations/retry': { allowed: true },
      'chores/runs': { allowed: true },
      'instances/move': { allowed: false, reason: expect.stringContaining('needs the role admin') },
    })
    expect((await send('viewer', '/admin/me')).body.allowed_actions).toMatchObject({
      'operations/retry': { allowed: false, reason: expect.stringContaining('needs the role operator or admin') },
    })
    expect((await send('platform', '/admin/me')).status).toBe(403)
  })
})

describe('GET /admin/stats', () => {
  it('is what one chore has counted, with its age', async () => {
    const { send, provision, clock } = await start()
    await provision('i')
    await clock.advance(30_000)
    await provision('j')
    await clock.advance(7_000)
    const { status, body } = await send('viewer', '/admin/stats')
    expect(status).toBe(200)
    expect(body).toEqual({
      at: '2026-01-01T00:00:30.000Z',
      age_seconds: 7,
      window_seconds: 3600,
      operations: { queued: 0, running: 0, succeeded: 1, failed: 0, superseded: 0, past_deadline: 0 },
      active: [],
      ended: [{ action: 'provision', state: 'succeeded', operations: 1 }],
      instances: [{ service_id: 'service', plan_id: 'plan', phase: 'ready', usable: true, instances: 1 }],
      bindings: [],
    })
  })

  it('tells of what waits and of what is late', async () => {
    const never = () => new Promise<never>(() => {})
    const { send, provision, clock } = await start({
      services: [serviceOf({ provision: never })],
      settings: { engine: { concurrency: 1 } },
    })
    await provision('i')
    await clock.advance(1_000)
    await provision('j')
    await clock.advance(29_000)
    const { body } = await send('viewer', '/admin/stats')
    expect(body.operations).toMatchObject({
      queued: 1,
      running: 1,
      oldest_due_at: '2026-01-01T00:00:01.000Z',
      oldest_running_at: '2026-01-01T00:00:00.000Z',
    })
    expect(body.active).toContainEqual({
      action: 'provision',
      state: 'queued',
      operations: 1,
      held: 0,
      accepted_since: '2026-01-01T00:00:01.000Z',
      due_since: '2026-01-01T00:00:01.000Z',
      past_deadline: 0,
    })
  })

  it('counts at once where nobody has counted yet', async () => {
    const { send, clock } = await start({ settings: { chores: { survey: '-' } } })
    const answer = send('viewer', '/admin/stats')
    await clock.advance(1_000)
    expect(await answer).toMatchObject({ status: 200, body: { at: '2026-01-01T00:00:00.000Z', instances: [] } })
    expect(await send('viewer', '/admin/stats')).toMatchObject({ body: { age_seconds: 1 } })
  })
})

describe('GET /admin/workers', () => {
  it('lists the processes that live, with their slots', async () => {
    const { send, store, clock } = await start({ settings: { engine: { concurrency: 4 } } })
    const { items } = (await send('viewer', '/admin/workers')).body
    expect(items).toHaveLength(1)
    expect(items[0]).toMatchObject({
      owner: expect.stringContaining(`/${process.pid}/`),
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      pid: process.pid,
      since: '2026-01-01T00:00:00.000Z',
      seen_at: '2026-01-01T00:00:00.000Z',
      slots: 4,
      used: 0,
      free: 4,
      leases: 0,
    })
    const doc = { version: '0.0.1', since: clock.now() - 1, slots: 2, used: 1, free: 1, leases: 1 }
    await store.putBulletin({ kind: 'worker', key: 'other', doc, keepFor: 20_000 })
    await clock.advance(15_000)
    const both = (await send('viewer', '/admin/workers')).body.items
    expect(both.map(({ owner }) => owner)).toEqual(['other', items[0]?.owner])
    expect(both[0]).toMatchObject({ seen_at: '2026-01-01T00:00:00.000Z', used: 1 })
    await clock.advance(15_000)
    expect((await send('viewer', '/admin/workers')).body.items).toHaveLength(1)
  })

  it('a process that stops takes its own off the list, and one that lives stays on it', async () => {
    const { store, clock, stop } = await start()
    await clock.advance(120_000)
    expect((await store.bulletins('worker')).bulletins).toHaveLength(1)
    await stop()
    expect((await store.bulletins('worker')).bulletins).toEqual([])
  })
})

describe('GET /admin/history', () => {
  it('lists what operators did, by whom, and pages through it', async () => {
    const { send, provision, clock } = await start({ settings: { engine: { concurrency: 1 } } })
    for (const id of ['i', 'j', 'k']) {
      await provision(id)
      await clock.advance(1_000)
      await send('admin', `/admin/instances/${id}/abandon`, 'POST', { reason: `of ${id}` })
    }
    const first = await send('viewer', '/admin/history?limit=2')
    expect(first.body.items.map(({ reason }) => reason)).toEqual(['of k', 'of j'])
    expect(first.body.items[0]).toEqual({
      at: '2026-01-01T00:00:03.000Z',
      verb: 'abandon',
      by: 'admin',
      reason: 'of k',
      instance_id: 'k',
      action: 'deprovision',
      operation_id: expect.any(String),
      before: expect.any(Object),
      after: expect.any(Object),
    })
    const rest = await send('viewer', `/admin/history?limit=2&cursor=${first.body.next}`)
    expect(rest.body.items.map(({ reason }) => reason)).toEqual(['of i'])
    const of = async (query: string) =>
      (await send('viewer', `/admin/history?${query}`)).body.items.map(({ reason }) => reason)
    expect(await of('by=nobody')).toEqual([])
    expect(await of('by=admin&verb=abandon&instance_id=j')).toEqual(['of j'])
    expect(await of('since=2026-01-01T00:00:02Z&until=2026-01-01T00:00:03Z&order=oldest')).toEqual(['of j'])
    expect((await send('viewer', '/admin/history?verb=praise')).status).toBe(400)
    expect((await send('viewer', '/admin/history?cursor=x')).status).toBe(400)
  })
})

describe('GET /admin/revisions', () => {
  it('is empty where nothing comes from a registry', async () => {
    const { send, clock } = await start()
    const answer = send('viewer', '/admin/revisions')
    await clock.advance(1_000)
    expect(await answer).toMatchObject({ status: 200, body: { age_seconds: 0, items: [] } })
  })
})

describe('GET /admin/errors', () => {
  it('groups what has failed and what tries again by its kind', async () => {
    let port = 5000
    const { send, provision, clock } = await start({
      services: [
        serviceOf({
          async provision({ instance, step }) {
            await step('reach it', async () => {
              port += 1
              if (instance.id.startsWith('refused')) throw new TerminalError(`no quota for ${instance.id}`)
              throw new Error(`connect ECONNREFUSED 10.0.0.1:${port}`)
            })
          },
        }),
      ],
    })
    for (const id of ['down-1', 'down-2', 'refused-1', 'refused-2', 'refused-3']) {
      await provision(id)
      await clock.advance(1_000)
    }
    const { status, body } = await send('viewer', '/admin/errors')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      complete: true,
      items: expect.arrayContaining([
        {
          fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/),
          service_id: 'service',
          action: 'provision',
          step: 'reach it',
          count: 3,
          failed: 3,
          retrying: 0,
          first_at: '2026-01-01T00:00:02.000Z',
          last_at: '2026-01-01T00:00:04.000Z',
          sample: { operation_id: expect.any(String), instance_id: 'refused-3', message: 'no quota for refused-3' },
          operations: [expect.any(String), expect.any(String), expect.any(String)],
        },
        expect.objectContaining({
          count: 2,
          failed: 0,
          retrying: 2,
          sample: expect.objectContaining({ message: expect.stringContaining('ECONNREFUSED') }),
        }),
      ]),
    })
    expect(body.items).toHaveLength(2)
    expect((await send('viewer', '/admin/errors?limit=1')).body).toMatchObject({ complete: false })
    for (const none of ['service_id=other', 'action=bind', 'since=2027-01-01'])
      expect((await send('viewer', `/admin/errors?${none}`)).body.items).toEqual([])
    expect((await send('viewer', '/admin/errors?until=never')).status).toBe(400)
  })

  it('a failure keeps its kind when it is final, and leaves the list when it passes', async () => {
    let works = false
    const { send, provision, clock } = await start({
      services: [
        serviceOf({
          async provision({ step }) {
            await step('reach it', async () => {
              if (!works) throw new Error('connect ECONNREFUSED 10.0.0.1:5432')
            })
          },
        }),
      ],
    })
    await provision('i')
    await clock.advance(1_000)
    const kindOf = async () => (await send('viewer', '/admin/errors')).body.items
    const [trying] = await kindOf()
    expect(trying).toMatchObject({ retrying: 1, failed: 0 })
    works = true
    await clock.advance(600_000)
    expect(await kindOf()).toEqual([])
    works = false
    await provision('j')
    await clock.advance(24 * 3_600_000)
    expect(await kindOf()).toMatchObject([
      { fingerprint: trying?.fingerprint, step: 'reach it', failed: 1, retrying: 0 },
    ])
  })
})

describe('POST /admin/instances/:id/observe', () => {
  it('looks now, and the history says who wanted it', async () => {
    let ready = true
    const { send, provision, clock } = await start({
      services: [serviceOf({ observe: async () => ({ ready, message: 'as seen' }) })],
      settings: { engine: { observeEvery: '1h' } },
    })
    await provision('i')
    await clock.advance(1_000)
    ready = false
    const shown = (await send('viewer', '/admin/instances/i')).body
    expect(shown.allowed_actions).toMatchObject({ observe: { allowed: true } })
    expect((await send('viewer', '/admin/instances/i/observe', 'POST')).status).toBe(403)
    const { status, body } = await send('operator', '/admin/instances/i/observe', 'POST', { reason: 'a call' })
    expect(status).toBe(202)
    expect(body).toMatchObject({ instance_id: 'i', action: 'observe', state: 'queued' })
    await clock.advance(1_000)
    const { conditions } = (await send('viewer', '/admin/instances/i')).body
    expect(conditions).toMatchObject([{ type: 'Ready', status: false, message: 'as seen' }])
    expect((await send('viewer', '/admin/history')).body.items).toMatchObject([
      { verb: 'observe', by: 'operator', reason: 'a call', instance_id: 'i', operation_id: body.id },
    ])
  })

  it('is refused where nothing can be observed, and where something is at work', async () => {
    const { send, provision, clock } = await start()
    expect((await send('operator', '/admin/instances/i/observe', 'POST')).body.error).toBe('InstanceNotFound')
    await provision('i')
    await clock.advance(1_000)
    expect(await send('operator', '/admin/instances/i/observe', 'POST')).toMatchObject({
      status: 409,
      body: { error: 'VerbRefused', detail: 'The service of the instance has no "observe".' },
    })
  })
})
