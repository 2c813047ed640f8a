import { describe, expect, it, onTestFinished } from 'vitest'
import { createBasicAuthenticator } from '../../src/authenticator/basic.ts'
import { defineService, TerminalError } from '../../src/index.ts'
import { createMetrics, type MetricsOptions } from '../../src/observer/metrics/metrics.ts'
import { metricsTable } from '../../src/observer/metrics/table.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import type { ChoreLease, Store } from '../../src/store.ts'
import { createCrashableStore } from '../../src/testing/crash-points.ts'
import { startTestBroker, type TestBrokerOptions } from '../../src/testing/test-broker.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { ids, incomplete, minutes, seconds, serviceOf } from '../engine/world.ts'
import { scrape } from './scrape.ts'

const settings = { osb: { requireOrgAndSpace: false }, metrics: { serve: 'open' } } as const

async function start(options: Partial<TestBrokerOptions> = {}) {
  const broker = await startTestBroker({ services: [serviceOf({})], settings, ...options })
  onTestFinished(() => broker.stop())
  return broker
}

describe('GET /metrics', () => {
  it('has every metric of the table, as a parser reads them', async () => {
    const { names, text } = await scrape(await start())
    expect([...names].sort()).toEqual(Object.keys(metricsTable).sort())
    expect(text).toMatch(/^# HELP http_server_request_duration_seconds /)
  })

  it('needs the role viewer, unless it is open; off, there is nothing', async () => {
    const authenticator = createBasicAuthenticator([
      { username: 'viewer', password: 'x', platform: 'default', roles: ['viewer'] },
      { username: 'platform', password: 'x', platform: 'default', roles: ['platform'] },
    ])
    const ask = async (serve: 'operators' | 'open' | 'off' | undefined, user?: string, method = 'GET') => {
      const { fetch, url } = await start({ authenticator, settings: serve && { metrics: { serve } } })
      const headers: Record<string, string> = user === undefined ? {} : { authorization: `Basic ${btoa(`${user}:x`)}` }
      return (await fetch(new Request(`${url}/metrics`, { method, headers }))).status
    }
    expect(await ask(undefined)).toBe(401)
    expect(await ask(undefined, 'platform')).toBe(403)
    expect(await ask(undefined, 'viewer')).toBe(200)
    expect(await ask('operators', 'viewer', 'HEAD')).toBe(200)
    expect(await ask('open')).toBe(200)
    expect(await ask('open', undefined, 'POST')).toBe(405)
    expect(await ask('off')).toBe(401)
    expect(await ask('off', 'viewer')).toBe(401)
  })

  it('off means that nobody listens: no call of the store is measured', async () => {
    const clock = createVirtualClock()
    const store = createMemoryStore({ clock })
    // Whoever measures hands on as many values as the longest method has.
    const seen: number[] = []
    const { instance } = store
    store.instance = (...values) => {
      seen.push(values.length)
      return instance(...values)
    }
    const { client } = await start({ clock, store, settings: { ...settings, metrics: { serve: 'off' } }, observer: {} })
    await client.provision('i', ids, incomplete)
    await clock.advance(seconds(1))
    await client.fetchInstance('i')
    expect(seen.length).toBeGreaterThan(0)
    expect(new Set(seen)).toEqual(new Set([1]))
  })

  it('answers although the store does not', async () => {
    const clock = createVirtualClock()
    const store = { ...createMemoryStore({ clock }), bulletins: () => new Promise<never>(() => {}) }
    const broker = await start({ clock, store })
    const scraped = scrape(broker)
    await clock.advance(seconds(3))
    expect((await scraped).value('purser_worker_slots', { state: 'free' })).toBe(16)
  })
})

describe('what metrics count', () => {
  it('moves when it happens', async () => {
    let failures = 2
    const service = serviceOf({
      async provision(ctx) {
        await ctx.step('create', async () => {
          if (ctx.instance.id === 'retried' && failures-- > 0) throw new Error('not now')
          if (ctx.instance.id === 'broken') throw new TerminalError('never')
        })
        if (ctx.instance.id === 'waits') return ctx.wait('3h', 'later')
        return {}
      },
      bind: async () => ({ credentials: {} }),
      unbind: async () => undefined,
    })
    const broker = await start({ services: [service] })
    const { client, clock, fetch, url } = broker
    const before = await scrape(broker)
    for (const id of ['good', 'retried', 'broken', 'waits', 'replaced'])
      expect((await client.provision(id, ids, incomplete)).status).toBe(202)
    await client.provision('unknown', { ...ids, plan_id: 'none' }, incomplete)
    await clock.advance(minutes(10))
    await client.bind('good', 'b', ids, incomplete)
    await client.deprovision('waits', ids, incomplete)
    for (const path of ['chores/purge/runs', 'operations/x/hold', 'operations/x/release', 'instances/x/observe'])
      await fetch(new Request(`${url}/admin/${path}`, { method: 'POST' }))
    await fetch(new Request(`${url}/admin/instances/x/adopt`, { method: 'POST', body: '{}' }))
    await fetch(new Request(`${url}/admin/gates/bind`, { method: 'PUT', body: '{}' }))
    await fetch(new Request(`${url}/admin/sessions/x`, { method: 'DELETE' }))
    await clock.advance(minutes(2))
    const { value } = await scrape(broker)
    const moved = (name: string, labels: Record<string, string>, by: number) =>
      expect([name, labels, (value(name, labels) ?? 0) - (before.value(name, labels) ?? 0)]).toEqual([name, labels, by])
    const named = { service: 'service', plan: 'plan' }
    moved('http_server_request_duration_seconds', { method: 'PUT', route: '/v2/service_instances/:instance' }, 6)
    moved('purser_osb_rejections_total', { action: 'provision' }, 1)
    moved('purser_operations_accepted_total', { action: 'provision', ...named }, 5)
    moved('purser_operations_finished_total', { action: 'provision', ...named, outcome: 'succeeded' }, 3)
    moved('purser_operations_finished_total', { action: 'provision', outcome: 'failed' }, 1)
    moved('purser_operations_finished_total', { action: 'provision', outcome: 'superseded' }, 1)
    moved('purser_operation_duration_seconds', { action: 'provision', outcome: 'succeeded' }, 3)
    moved('purser_operation_queue_seconds', { action: 'deprovision' }, 1)
    moved('purser_step_attempts_total', { step: 'create', action: 'provision', outcome: 'succeeded' }, 4)
    moved('purser_step_duration_seconds', { step: 'create', service: 'service' }, 4 + 2 + 1)
    moved('purser_retries_scheduled_total', { action: 'provision', reason: 'retry' }, 2)
    moved('purser_lease_claims_total', { kind: 'resume' }, 2)
    moved('purser_admin_actions_total', { verb: 'runs', outcome: 'done' }, 1)
    for (const verb of ['hold', 'release', 'observe', 'adopt', 'put gates', 'delete sessions'])
      moved('purser_admin_actions_total', { verb, outcome: 'refused' }, 1)
    for (const [name, labels] of [
      ['purser_operations', { action: 'provision', state: 'succeeded' }],
      ['purser_instances', { ...named, state: 'ready', health: 'usable' }],
      ['purser_bindings', { service: 'service', state: 'ready' }],
      ['purser_chore_interval_seconds', { chore: 'survey' }],
      ['purser_chore_last_success_timestamp_seconds', { chore: 'survey' }],
      ['purser_snapshot_timestamp_seconds', {}],
      ['purser_claim_duration_seconds', {}],
      ['db_client_operation_duration_seconds', { system: 'memory', operation: 'accept' }],
      ['process_cpu_seconds_total', {}],
    ] as const)
      expect([name, value(name, labels)]).toEqual([name, expect.any(Number)])
    expect(value('purser_chore_interval_seconds', { chore: 'purge' })).toBe(3600)
  })

  it('a chore that has not succeeded since the start, and never before as far as is known, counts from the start', async () => {
    const clock = createVirtualClock()
    const store = createMemoryStore({ clock })
    for (const name of ['purge', 'clean-up-instances-all']) {
      const lease = await store.takeChore({ name, dueAt: clock.now(), owner: 'before', leaseTime: seconds(30) })
      await store.finishChore(lease as ChoreLease, { ok: false, message: 'no' })
    }
    await clock.advance(minutes(5))
    const startedAt = clock.now() / 1000
    const broker = await start({ clock, store })
    await clock.advance(minutes(1))
    const { value } = await scrape(broker)
    expect(value('purser_chore_last_success_timestamp_seconds', { chore: 'purge' })).toBe(startedAt)
    // Nobody waits for one that has no schedule.
    expect(value('purser_chore_last_success_timestamp_seconds', { chore: 'clean-up-instances-all' })).toBeUndefined()
  })

  it('gauges of the ledger: ages, what is past its deadline, and the same on every replica', async () => {
    const clock = createVirtualClock()
    const store = createMemoryStore({ clock })
    const service = serviceOf({ provision: async ({ wait }) => wait('40s', 'later') })
    const one = await start({
      clock,
      store,
      services: [service],
      settings: { ...settings, engine: { timeouts: { provision: '90s' } } },
    })
    const other = await start({ clock, store, services: [service] })
    await one.client.provision('i', ids, incomplete)
    await clock.advance(minutes(1) + seconds(10))
    const { value } = await scrape(one)
    expect(value('purser_operations', { action: 'provision', state: 'queued' })).toBe(1)
    expect(value('purser_operations', { action: 'provision', state: 'held' })).toBe(0)
    expect(value('purser_operation_oldest_running_seconds', { action: 'provision' })).toBe(60)
    expect(value('purser_operations_past_deadline', { action: 'provision' })).toBe(0)
    const there = await scrape(other)
    for (const name of [
      'purser_operations',
      'purser_operation_oldest_running_seconds',
      'purser_snapshot_timestamp_seconds',
    ])
      expect(there.value(name)).toBe(value(name))
  })

  it('takeovers, lost leases and refused writes', async () => {
    const clock = createVirtualClock()
    const ledger = createMemoryStore({ clock })
    const { store, crash } = createCrashableStore(ledger)
    const service = serviceOf({
      provision: async ({ step }) =>
        step('slow', () => new Promise(resolve => void clock.after(seconds(10), () => resolve({})))) as never,
    })
    const first = await startTestBroker({ clock, store, services: [service], settings })
    await first.client.provision('i', ids, incomplete)
    await clock.advance(seconds(1))
    crash()
    const second = await start({ clock, store: ledger, services: [service] })
    await clock.advance(minutes(1))
    expect((await scrape(second)).value('purser_lease_claims_total', { kind: 'takeover' })).toBe(1)
  })

  it('a write with an old fence', async () => {
    const clock = createVirtualClock()
    const store = createMemoryStore({ clock })
    let refusals = 1
    const refusing: Store = {
      ...store,
      checkpoint: async (lease, checkpoint) => (refusals-- > 0 ? false : store.checkpoint(lease, checkpoint)),
    }
    const service = serviceOf({ provision: async ({ step }) => void (await step('one', () => 1)) })
    const broker = await start({ clock, store: refusing, services: [service] })
    await broker.client.provision('i', ids, incomplete)
    await clock.advance(seconds(5))
    const { value } = await scrape(broker)
    expect(value('purser_fence_rejections_total')).toBeGreaterThan(0)
    expect(value('purser_leases_lost_total', { reason: 'lost' })).toBeGreaterThan(0)
  })
})

describe('labels', () => {
  it('are bounded with 300 services, in a broker', async () => {
    const services = Array.from({ length: 300 }, (_, index) =>
      defineService({
        id: `id-${index}`,
        name: `service-${index}`,
        description: 'One of many',
        bindable: false,
        plans: [{ id: `plan-${index}`, name: 'plan', description: 'The plan' }],
        async provision(ctx) {
          await ctx.step(`create ${ctx.instance.id}`, () => 1)
        },
        async deprovision() {},
      }),
    )
    const broker = await start({ services })
    const { client, clock } = broker
    for (let instance = 0; instance < 900; instance += 1) {
      const index = instance % 300
      await client.provision(
        `instance-${instance}`,
        { service_id: `id-${index}`, plan_id: `plan-${index}` },
        incomplete,
      )
      if (instance % 100 === 99) await clock.advance(seconds(1))
    }
    await clock.advance(minutes(2))
    const { series, text, value } = await scrape(broker)
    expect(value('purser_operations_accepted_total')).toBe(900)
    expect(series('purser_operations_accepted_total')).toHaveLength(201)
    expect(value('purser_operations_accepted_total', { service: 'other', plan: 'other' })).toBe(300)
    expect(series('purser_instances').length).toBeLessThanOrEqual(201)
    expect(value('purser_instances')).toBe(900)
    expect(series('purser_step_attempts_total').length).toBeLessThanOrEqual(1_001 + 201)
    expect(text.length).toBeLessThan(3_000_000)
  })

  it('are bounded with 10,000 instances of 300 services, each with a step of its own', async () => {
    const { observer, text } = createMetrics({
      system: 'x',
      nameOf: serviceId => ({ service: serviceId, plan: `plan of ${serviceId}` }),
      read: async () => ({ chores: [], registries: [], slots: { used: 0, free: 1 }, skewMs: 0 }),
    })
    for (let instance = 0; instance < 10_000; instance += 1) {
      const about = {
        action: 'provision',
        serviceId: `s${instance % 300}`,
        planId: 'p',
        instanceId: `i${instance}`,
      } as const
      observer['operation.accepted']?.(about as never)
      observer['step.succeeded']?.({ ...about, step: `create ${instance}`, durationMs: 1 } as never)
      observer['operation.failed']?.({ ...about, totalMs: 5, reason: `no ${instance}` } as never)
    }
    const { series, value } = await scrape({ url: 'http://x', fetch: async () => new Response(await text()) })
    expect(value('purser_operations_accepted_total')).toBe(10_000)
    expect(series('purser_operations_accepted_total')).toHaveLength(201)
    expect(series('purser_operations_finished_total')).toHaveLength(201)
    expect(series('purser_step_attempts_total').length).toBeLessThanOrEqual(1_000 + 201)
  })

  it('of requests come from the routes, whatever clients send', async () => {
    const broker = await start()
    for (let index = 0; index < 50; index += 1) {
      await broker.fetch(new Request(`${broker.url}/v2/service_instances/${index}/last_operation`))
      await broker.fetch(new Request(`${broker.url}/nothing/${index}`))
      await broker.fetch(new Request(`${broker.url}/x`, { method: `VERB${index}` }))
    }
    const { series } = await scrape(broker)
    expect(series('http_server_request_duration_seconds').length).toBeLessThanOrEqual(4)
  })

  it('hold nothing but names of the catalog and words', async () => {
    const canary = 'canary-7f3a'
    const service = serviceOf({
      async provision() {
        throw new TerminalError(`no ${canary}`)
      },
    })
    const broker = await start({ services: [service] })
    const parameters = { password: canary }
    await broker.client.provision(canary, { ...ids, parameters }, incomplete)
    await broker.fetch(new Request(`${broker.url}/${canary}?${canary}`, { headers: { authorization: canary } }))
    await broker.clock.advance(minutes(2))
    expect((await scrape(broker)).text).not.toContain(canary)
  })

  it('are escaped', async () => {
    const options: MetricsOptions = {
      system: 'x',
      nameOf: () => ({ service: 'a"b\\c\nd', plan: 'p' }),
      read: async () => ({
        chores: [],
        registries: [{ name: 'r', up: false, lastCompleteAt: 5_000 }],
        slots: { used: 1, free: 2 },
        skewMs: 7,
      }),
    }
    const { observer, text } = createMetrics(options)
    observer['sandbox.listed']?.({ runtime: 'process', needed: 2, unneeded: 1 })
    observer['operation.accepted']?.({ action: 'bind', serviceId: 's', planId: 'p' } as never)
    const { value, series } = await scrape({ url: 'http://x', fetch: async () => new Response(await text()) })
    expect(series('purser_operations_accepted_total')[0]?.service).toContain('a')
    expect(await text()).toContain('service="a\\"b\\\\c\\nd"')
    expect(value('purser_sandboxes', { runtime: 'process', state: 'needed' })).toBe(2)
    expect(value('purser_registry_up', { registry: 'r' })).toBe(0)
    expect(value('purser_registry_last_complete_timestamp_seconds', { registry: 'r' })).toBe(5)
    expect(value('purser_store_clock_skew_seconds')).toBe(0.007)
  })
})
