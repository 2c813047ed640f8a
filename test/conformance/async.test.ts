import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite/index.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { conformance, type Platform, requirement, stopped } from './harness.ts'
import { another, bare, bareService, bound, incomplete, provisioned, restarted, until } from './helpers.ts'
import { createServices, full, org } from './services.ts'

const small = { ...full, ...org }
const sync = { service_id: 'always-sync', plan_id: 'always-sync-plan' }
const later = { service_id: 'always-async', plan_id: 'always-async-plan' }

type Call = readonly [action: string, call: (accepts: { acceptsIncomplete?: boolean }) => Promise<Answer>]
type Answer = {
  readonly status: number
  readonly body: { readonly error?: string; readonly operation?: string | null }
}

/** One life of an instance and a binding, as calls that each need the one before. */
const life = ({ client }: Platform, ids: typeof full): readonly Call[] => [
  ['provision', accepts => client.provision('i', { ...ids, ...org }, accepts)],
  ['bind', accepts => client.bind('i', 'b', ids, accepts)],
  ['unbind', accepts => client.unbind('i', 'b', ids, accepts)],
  ['update', accepts => client.update('i', { service_id: ids.service_id, parameters: { size: 2 } }, accepts)],
  ['deprovision', accepts => client.deprovision('i', ids, accepts)],
]

const bindingActions = ['bind', 'unbind']

conformance('Synchronous and asynchronous', () => {
  requirement(
    'ASYNC-01',
    'a request that may be answered later is answered at once, however long the work takes',
    async t => {
      for (const [action, call] of life(t, full)) {
        const release = t.backend.hold(action)
        const before = t.clock.now()
        expect([action, (await call(incomplete)).status]).toEqual([action, 202])
        expect(t.clock.now()).toBe(before)
        release()
        await t.ended('i', bindingActions.includes(action) ? 'b' : undefined)
      }
    },
  )

  requirement(
    'ASYNC-01',
    'one that has to wait is answered before platforms lose patience, and the work goes on',
    async t => {
      const release = t.backend.hold('provision')
      const waiting = t.client.provision('i', small)
      await until(async () => (await t.store.instance('i')) !== undefined)
      const before = t.clock.now()
      let answered = false
      const answer = waiting.finally(() => {
        answered = true
      })
      while (!answered) await t.clock.advance(1_000)
      const { status, body } = await answer
      expect([status, body.error]).toEqual([504, 'StillRunning'])
      expect(t.clock.now() - before).toBeGreaterThan(50_000)
      expect((await t.store.instance('i'))?.phase).toBe('creating')
      release()
      expect(await t.ended('i')).toMatchObject({ state: 'succeeded' })
      expect((await t.client.provision('i', small)).status).toBe(200)
    },
  )

  requirement(['ASYNC-02', 'ASYNC-05'], 'work that is complete with the answer has a synchronous code', async t => {
    const answers: [string, number, unknown][] = []
    for (const [action, call] of life(t, full)) {
      const { status, body } = await call({})
      answers.push([action, status, body.operation])
      expect(t.backend.done.at(-1)).toMatch(action)
    }
    expect(answers).toEqual([
      ['provision', 201, undefined],
      ['bind', 201, undefined],
      ['unbind', 200, undefined],
      ['update', 200, undefined],
      ['deprovision', 200, undefined],
    ])
  })

  requirement(['ASYNC-03', 'ASYNC-12'], 'work that goes on after the answer is answered 202', async t => {
    for (const [action, call] of life(t, full)) {
      const done = [...t.backend.done]
      const release = t.backend.hold(action)
      const { status, body } = await call(incomplete)
      expect([action, status]).toEqual([action, 202])
      expect(body.operation).toMatch(/\w/)
      const bindingId = bindingActions.includes(action) ? 'b' : undefined
      const polled =
        bindingId === undefined
          ? await t.client.lastOperation('i')
          : await t.client.lastBindingOperation('i', bindingId)
      expect(polled.body.state).toBe('in progress')
      expect(t.backend.done).toEqual(done)
      release()
      expect(await t.ended('i', bindingId)).toMatchObject({ state: 'succeeded' })
      expect(t.backend.done.at(-1)).toMatch(action)
    }
  })

  requirement('ASYNC-04', 'each service, and each action of it, chooses for itself', async t => {
    expect((await t.client.provision('i', { ...sync, ...org }, incomplete)).status).toBe(201)
    expect((await t.client.provision('j', { ...later, ...org }, incomplete)).status).toBe(202)
    const mixed = bareService({ actions: { provision: { async: 'never' }, deprovision: { async: 'always' } } })
    const broker = await another(t, { services: [mixed] })
    expect((await broker.client.provision('i', { ...bare, ...org }, incomplete)).status).toBe(201)
    expect((await broker.client.deprovision('i', bare)).body.error).toBe('AsyncRequired')
    expect((await broker.client.deprovision('i', bare, incomplete)).status).toBe(202)
  })

  requirement(
    'ASYNC-06',
    'a provision that repeats an instance as it is is answered 200 with the same body',
    async t => {
      const first = await t.client.provision('i', small)
      for (const accepts of [{}, incomplete]) {
        const again = await t.client.provision('i', small, accepts)
        expect([again.status, again.body]).toEqual([200, first.body])
      }
      expect(t.backend.done).toEqual(['provision i'])
    },
  )

  requirement('ASYNC-08', 'a service that works synchronously does so whatever the platform would accept', async t => {
    const answers: [string, number][] = []
    for (const [action, call] of life(t, sync)) answers.push([action, (await call(incomplete)).status])
    expect(answers).toEqual([
      ['provision', 201],
      ['bind', 201],
      ['unbind', 200],
      ['update', 200],
      ['deprovision', 200],
    ])
  })

  requirement(
    ['ASYNC-10', 'ASYNC-11'],
    'a service that works asynchronously needs the consent of the platform',
    async t => {
      const query = `service_id=${later.service_id}&plan_id=${later.plan_id}`
      const requests: [string, string, unknown?][] = [
        ['PUT', 'i', { ...later, ...org }],
        ['PUT', 'i/service_bindings/b', later],
        ['DELETE', `i/service_bindings/b?${query}`],
        ['PATCH', 'i', { service_id: later.service_id, parameters: { size: 2 } }],
        ['DELETE', `i?${query}`],
      ]
      const calls = life(t, later)
      for (const [index, [method, path, body]] of requests.entries()) {
        const done = [...t.backend.done]
        for (const accepts of [
          '',
          'accepts_incomplete=false',
          'accepts_incomplete=',
          'accepts_incomplete=TRUE',
          'accepts_incomplete=1',
        ]) {
          const target = `/v2/service_instances/${path}${path.includes('?') ? '&' : '?'}${accepts}`
          const answer = await t.request(method, target, { body })
          expect([target, answer.status, answer.body.error]).toEqual([target, 422, 'AsyncRequired'])
          expect(answer.body.description).toContain('accepts_incomplete=true')
        }
        expect(t.backend.done).toEqual(done)
        const [action = '', call] = calls[index] ?? []
        expect((await call?.(incomplete))?.status).toBe(202)
        await t.ended('i', bindingActions.includes(action) ? 'b' : undefined)
      }
      expect(t.backend.things.size).toBe(0)
    },
  )

  requirement('ASYNC-14', 'a poll tells how far the work is', async t => {
    const release = t.backend.hold('stage')
    const staged = bareService({
      async provision(ctx: Parameters<ReturnType<typeof bareService>['provision']>[0]) {
        ctx.describe('copying the image')
        await ctx.step('copy', call => t.backend.perform('stage', 'copy', call.signal, () => {}))
        return { message: 'all is there' }
      },
    })
    const broker = await another(t, { services: [staged] })
    await broker.client.provision('i', { ...bare, ...org }, incomplete)
    await broker.clock.advance(1_000)
    expect((await broker.client.lastOperation('i')).body).toEqual({
      state: 'in progress',
      description: 'copying the image',
    })
    release()
    expect(await broker.ended('i')).toEqual({ state: 'succeeded', description: 'all is there' })
  })

  requirement('ASYNC-15', 'an operation outlives the process that accepted it, and so does its result', async t => {
    const folder = mkdtempSync(join(tmpdir(), 'purser-async-'))
    const clock = createVirtualClock()
    const open = () => openSqliteStore({ file: join(folder, 'ledger.db'), clock })
    const services = createServices(t.backend)
    const store = await open()
    const first = await another(t, { services, store, clock })
    const release = t.backend.hold('provision')
    const { operation } = (await first.client.provision('i', small, incomplete)).body
    await until(async () => (await store.operation(operation ?? ''))?.state === 'running')
    const between = await restarted(first, { services })
    expect((await between.client.lastOperation('i')).body.state).toBe('in progress')
    expect((await between.client.provision('i', small, incomplete)).body.operation).toBe(operation)
    await stopped(between)
    await store.close()
    release()
    const reopened = await open()
    const last = await another(t, { services, store: reopened, clock })
    expect(await last.ended('i', undefined, operation ?? '')).toMatchObject({ state: 'succeeded' })
    expect((await last.client.provision('i', small, incomplete)).status).toBe(200)
    expect(t.backend.done).toEqual(['provision i'])
    await last.stop()
    const after = await another(t, { services, store: reopened, clock })
    expect((await after.client.lastOperation('i', { operation: operation ?? '' })).body.state).toBe('succeeded')
    await after.stop()
    await reopened.close()
    rmSync(folder, { recursive: true })
  })

  requirement('DUR-04', 'an operation ends as failed before the platform stops polling for it', async t => {
    const broker = await another(t, { services: withPollingLimit(t, 120) })
    const bindingOf = (action: string) => (bindingActions.includes(action) ? 'b' : undefined)
    await provisioned(broker, 'i')
    for (const [action, call] of life(broker, full)) {
      if (action === 'provision') await broker.client.deprovision('i', full)
      if (action === 'bind') await provisioned(broker)
      if (action === 'unbind') await bound(broker)
      const release = t.backend.hold(action)
      expect([action, (await call(incomplete)).status]).toEqual([action, 202])
      await broker.clock.advance(30_000)
      const poll = () => {
        const bindingId = bindingOf(action)
        return bindingId === undefined
          ? broker.client.lastOperation('i')
          : broker.client.lastBindingOperation('i', bindingId)
      }
      expect([action, (await poll()).body.state]).toEqual([action, 'in progress'])
      await broker.clock.advance(85_000)
      const { body } = await poll()
      expect([action, body.state]).toEqual([action, 'failed'])
      expect(body.description).toContain(`The ${action} did not end within`)
      release()
      await broker.clock.advance(120_000)
      expect([action, (await poll()).body.state]).toEqual([action, 'failed'])
      if (action === 'unbind') expect((await broker.client.unbind('i', 'b', full)).status).toBe(200)
    }
  })
})

/** The service `full` with plans that a platform polls for so many seconds. */
function withPollingLimit(t: Platform, maximumPollingDuration: number) {
  return createServices(t.backend).map(service =>
    service.plans === undefined
      ? service
      : { ...service, plans: service.plans.map(plan => ({ ...plan, maximumPollingDuration })) },
  )
}
