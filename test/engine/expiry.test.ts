/** Bindings that expire: what platforms are told, what the chore tells and does, and what it leaves alone. */
import { describe, expect, it } from 'vitest'
import type { BrokerEvents } from '../../src/events.ts'
import type { Service } from '../../src/index.ts'
import type { Observer } from '../../src/observer.ts'
import { UnsealError } from '../../src/sealing.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import type { Store } from '../../src/store.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { adminOf } from '../verbs/admin.ts'
import { createWorld, ids, incomplete, minutes, type Process, seconds, takes, type World } from './world.ts'

const hours = (count: number) => minutes(60 * count)
const life = { lifetime: '10h', renewBefore: '2h', unbindExpired: true } as const
const rotatable = { id: 'plan', name: 'plan', description: 'The plan', bindingRotatable: true }

type Told = keyof Pick<BrokerEvents, 'binding.expiresSoon' | 'binding.expired'>

/** A service with roles for its bindings, and everything that is told about their expiry. */
function createExpiryWorld(more: Partial<Service> = {}, options: Partial<Parameters<typeof createWorld>[0]> = {}) {
  const clock = createVirtualClock()
  const told: string[] = []
  const roles = new Set<string>()
  const listen = (type: Told) => (event: BrokerEvents[Told]) => {
    told.push(`${type} ${event.bindingId}`)
  }
  const observer: Observer = {
    'binding.expiresSoon': listen('binding.expiresSoon'),
    'binding.expired': listen('binding.expired'),
  }
  const world = createWorld({
    clock,
    store: createMemoryStore({ clock }),
    observer,
    service: {
      plans: [rotatable],
      bindings: life,
      async bind(ctx) {
        roles.add(ctx.binding.id)
        return { credentials: { role: ctx.binding.id } }
      },
      async unbind(ctx) {
        roles.delete(ctx.binding.id)
      },
      ...more,
    },
    ...options,
    // Wake-ups say what there is to do; hours of polls would be walked through one by one.
    settings: {
      ...options.settings,
      engine: { pollInterval: '1h' },
      chores: { survey: '-', batches: '-', purge: '-' },
    },
  })
  return { ...world, told, roles }
}

async function bound(world: World, process: Process, ...bindings: readonly string[]): Promise<void> {
  await process.provision('i')
  await world.clock.advance(seconds(1))
  for (const id of bindings) await process.bind('i', id)
  await world.clock.advance(seconds(1))
}

const metadataOf = async ({ client }: Process, id: string) => (await client.fetchBinding('i', id)).body.metadata
const iso = (time: number) => new Date(time).toISOString()
const historyOf = async ({ ledger }: World, id: string) =>
  (await ledger.history('i')).filter(({ bindingId }) => bindingId === id)

describe('bindings that expire', () => {
  it('a service says how long its bindings last; platforms read when, and when to renew', async () => {
    const world = createExpiryWorld()
    const process = await world.boot()
    await bound(world, process, 'b')
    const { createdAt, expiresAt, renewBefore } = (await world.ledger.binding('i', 'b')) ?? {}
    expect(expiresAt).toBeGreaterThanOrEqual((createdAt ?? 0) + hours(10))
    expect(expiresAt).toBeLessThanOrEqual((createdAt ?? 0) + hours(10) + seconds(1))
    expect(renewBefore).toBe((expiresAt ?? 0) - hours(2))
    expect(await metadataOf(process, 'b')).toEqual({
      expires_at: iso(expiresAt ?? 0),
      renew_before: iso(renewBefore ?? 0),
    })
  })

  it.each([
    ['its own end', { expiresAt: iso(9e12) }, { expires_at: iso(9e12), renew_before: iso(9e12 - hours(2)) }],
    ['both', { expiresAt: iso(9e12), renewBefore: iso(8e12) }, { expires_at: iso(9e12), renew_before: iso(8e12) }],
  ])('what a bind says counts: %s', async (_, metadata, expected) => {
    const world = createExpiryWorld({ bind: async () => ({ credentials: {}, metadata }) })
    const process = await world.boot()
    await bound(world, process, 'b')
    expect(await metadataOf(process, 'b')).toEqual(expected)
  })

  it('a renewal that would have to be before the binding, or after its end, is now, or at the end', async () => {
    const clock = createVirtualClock()
    const soon = clock.now() + minutes(30)
    const early = createExpiryWorld({
      bind: async () => ({ credentials: {}, metadata: { expiresAt: new Date(soon) } }),
    })
    await bound(early, await early.boot(), 'b')
    const { createdAt = 0, renewBefore = 0 } = (await early.ledger.binding('i', 'b')) ?? {}
    expect(renewBefore - createdAt).toBeGreaterThanOrEqual(0)
    expect(renewBefore - createdAt).toBeLessThanOrEqual(seconds(1))
    const late = createExpiryWorld({ bind: async () => ({ credentials: {}, metadata: { renewBefore: iso(9e12) } }) })
    await bound(late, await late.boot(), 'b')
    const { expiresAt, renewBefore: clamped } = (await late.ledger.binding('i', 'b')) ?? {}
    expect(clamped).toBe(expiresAt)
  })

  it('is told of once for each time that has passed, and unbound when it is over', async () => {
    const world = createExpiryWorld()
    const process = await world.boot()
    await bound(world, process, 'b')
    await world.clock.advance(hours(8) - minutes(2))
    expect(world.told).toEqual([])
    await world.clock.advance(minutes(4))
    expect(world.told).toEqual(['binding.expiresSoon b'])
    expect((await process.client.fetchBinding('i', 'b')).status).toBe(200)
    await world.clock.advance(hours(2) - minutes(5))
    expect(world.told).toEqual(['binding.expiresSoon b'])
    expect(world.roles).toEqual(new Set(['b']))
    await world.clock.advance(minutes(5))
    expect(world.told).toEqual(['binding.expiresSoon b', 'binding.expired b'])
    expect(world.roles).toEqual(new Set())
    expect((await process.client.fetchBinding('i', 'b')).status).toBe(404)
    expect((await process.client.unbind('i', 'b', ids, incomplete)).status).toBe(410)
    const { lastOperationId = '' } = (await world.ledger.binding('i', 'b')) ?? {}
    expect(await process.pollBinding('i', 'b', lastOperationId)).toMatchObject({ state: 'succeeded' })
    expect((await historyOf(world, 'b')).map(({ type, action, by }) => [type, action, by])).toEqual([
      ['accepted', 'bind', undefined],
      ['succeeded', 'bind', undefined],
      ['expiring', undefined, undefined],
      ['expired', undefined, undefined],
      ['accepted', 'unbind', 'chore expiry'],
      ['succeeded', 'unbind', undefined],
    ])
    await world.clock.advance(hours(26))
    expect(world.told).toHaveLength(2)
    expect(await world.ledger.dueForExpiry(10)).toEqual([])
  })

  it('is only told of where its service did not ask for more', async () => {
    const world = createExpiryWorld({ bindings: { lifetime: '10h' } })
    const process = await world.boot()
    await bound(world, process, 'b')
    expect(await metadataOf(process, 'b')).not.toHaveProperty('renew_before')
    await world.clock.advance(hours(36))
    expect(world.told).toEqual(['binding.expired b'])
    expect((await process.client.fetchBinding('i', 'b')).status).toBe(200)
    expect(world.roles).toEqual(new Set(['b']))
    // Somebody has decided otherwise since.
    const other = await world.boot({ service: { bindings: life } })
    await process.stop()
    await world.clock.advance(hours(25))
    expect(world.told).toEqual(['binding.expired b'])
    expect(world.roles).toEqual(new Set())
    expect((await other.client.unbind('i', 'b', ids, incomplete)).status).toBe(410)
  })

  it.each([
    ['its name', ['service'], 0],
    ['a star', ['*'], 0],
    ['another name', ['other'], 1],
  ])('operators ask for it in the settings: %s', async (_, unbindExpired, left) => {
    const world = createExpiryWorld({ bindings: { lifetime: '10h' } }, { settings: { bindings: { unbindExpired } } })
    const process = await world.boot()
    await bound(world, process, 'b')
    await world.clock.advance(hours(11))
    expect(world.roles.size).toBe(left)
  })

  it('a rotation overlaps: the predecessor lives until its own end, and its end leaves the successor alone', async () => {
    const world = createExpiryWorld()
    const process = await world.boot()
    await bound(world, process, 'old')
    await world.clock.advance(hours(9))
    const rotation = { predecessor_binding_id: 'old' }
    expect((await process.client.bind('i', 'new', rotation, incomplete)).status).toBe(202)
    await world.clock.advance(minutes(5))
    expect(world.roles).toEqual(new Set(['old', 'new']))
    expect((await process.client.fetchBinding('i', 'old')).status).toBe(200)
    await world.clock.advance(hours(1))
    expect(world.roles).toEqual(new Set(['new']))
    expect((await process.client.fetchBinding('i', 'old')).status).toBe(404)
    expect((await process.client.fetchBinding('i', 'new')).status).toBe(200)
    expect((await process.client.bind('i', 'new', rotation, incomplete)).status).toBe(200)
    const late = await process.client.bind('i', 'newer', rotation, incomplete)
    expect(late).toMatchObject({ status: 400, body: { error: 'UnknownPredecessor' } })
  })

  it('a rotation while the unbind runs is refused, and one that began before it goes on', async () => {
    const world = createExpiryWorld({
      async unbind(ctx) {
        await ctx.step('slow', () => takes(world.clock, seconds(10)))
        world.roles.delete(ctx.binding.id)
      },
      async bind(ctx) {
        if (ctx.binding.id === 'new') await ctx.step('slow', () => takes(world.clock, seconds(10)))
        world.roles.add(ctx.binding.id)
        return { credentials: {} }
      },
    })
    const process = await world.boot()
    await bound(world, process, 'old')
    const { expiresAt = 0 } = (await world.ledger.binding('i', 'old')) ?? {}
    await world.clock.advance(expiresAt - world.clock.now() - 1)
    expect((await process.client.bind('i', 'new', { predecessor_binding_id: 'old' }, incomplete)).status).toBe(202)
    const isDeleting = async () => (await world.ledger.binding('i', 'old'))?.phase === 'deleting'
    while (!(await isDeleting())) await world.clock.advance(seconds(1))
    const other = await process.client.bind('i', 'newer', { predecessor_binding_id: 'old' }, incomplete)
    expect(other).toMatchObject({ status: 422, body: { error: 'ConcurrencyError' } })
    await world.clock.advance(minutes(1))
    expect(world.roles).toEqual(new Set(['new']))
    expect((await process.client.fetchBinding('i', 'new')).status).toBe(200)
  })

  it("a platform's own unbind and the chore's are one operation, whoever is first", async () => {
    const world = createExpiryWorld({
      async unbind(ctx) {
        await ctx.step('slow', () => takes(world.clock, minutes(3)), { timeout: '5m' })
        world.roles.delete(ctx.binding.id)
      },
      callTimeout: '5m',
    })
    const process = await world.boot()
    await bound(world, process, 'mine', 'theirs')
    const { expiresAt = 0 } = (await world.ledger.binding('i', 'mine')) ?? {}
    await world.clock.advance(expiresAt - world.clock.now() - seconds(1))
    const theirs = await process.unbind('i', 'theirs')
    await world.clock.advance(minutes(2))
    const mine = (await world.ledger.binding('i', 'mine'))?.lastOperationId
    expect(await process.unbind('i', 'mine')).toBe(mine)
    expect((await world.ledger.binding('i', 'theirs'))?.lastOperationId).toBe(theirs)
    await world.clock.advance(minutes(10))
    expect(world.roles).toEqual(new Set())
    for (const id of ['mine', 'theirs']) {
      const ended = (await historyOf(world, id)).filter(
        ({ action, type }) => action === 'unbind' && type !== 'accepted',
      )
      expect(ended.map(({ type }) => type)).toEqual(['succeeded'])
    }
    expect(world.told).not.toContain('binding.expired theirs')
  })

  it('waits for an operation of the instance, and is gone with an instance that goes', async () => {
    let work = minutes(5)
    const world = createExpiryWorld(
      {
        callTimeout: '10m',
        async update(ctx) {
          await ctx.step('slow', () => takes(world.clock, work))
        },
        async deprovision(ctx) {
          await ctx.step('slow', () => takes(world.clock, work))
        },
        planUpdateable: true,
      },
      { settings: { osb: { cascadeDelete: true } } },
    )
    const process = await world.boot()
    await bound(world, process, 'b')
    const { expiresAt = 0 } = (await world.ledger.binding('i', 'b')) ?? {}
    await world.clock.advance(expiresAt - world.clock.now() - seconds(1))
    const update = await process.update('i', { size: '2' })
    await world.clock.advance(minutes(3))
    expect(world.told).toContain('binding.expired b')
    expect((await world.ledger.binding('i', 'b'))?.phase).toBe('ready')
    await world.clock.advance(minutes(4))
    expect(await process.poll('i', update)).toMatchObject({ state: 'succeeded' })
    expect(world.roles).toEqual(new Set())

    work = minutes(3)
    await process.bind('i', 'c')
    await world.clock.advance(seconds(1))
    const next = (await world.ledger.binding('i', 'c'))?.expiresAt ?? 0
    await world.clock.advance(next - world.clock.now() - seconds(1))
    const deletion = await process.deprovision('i')
    await world.clock.advance(minutes(10))
    expect(await process.poll('i', deletion)).toMatchObject({ state: 'succeeded' })
    expect(world.roles).toEqual(new Set())
    expect(await world.ledger.dueForExpiry(10)).toEqual([])
    expect((await historyOf(world, 'c')).filter(({ action }) => action === 'unbind')).toEqual([])
  })

  it('an unbind that fails comes again, and a closed gate is respected', async () => {
    let fails = true
    const world = createExpiryWorld({
      actions: { unbind: { retry: { attempts: 1 } } },
      async unbind(ctx) {
        await ctx.step('drop', async () => {
          if (fails) throw new Error('no route')
        })
        world.roles.delete(ctx.binding.id)
      },
    })
    const process = await world.boot()
    const gate = async (method: string) => {
      const url = `${process.url}/admin/gates/unbind`
      const body = method === 'PUT' ? JSON.stringify({ message: 'Not today.' }) : undefined
      const headers = { 'content-type': 'application/json' }
      expect((await process.fetch(new Request(url, { method, body, headers }))).ok).toBe(true)
    }
    await bound(world, process, 'b')
    await gate('PUT')
    await world.clock.advance(hours(10))
    await world.clock.advance(minutes(2))
    expect(world.told).toEqual(['binding.expiresSoon b', 'binding.expired b'])
    expect((await world.ledger.binding('i', 'b'))?.phase).toBe('ready')
    await gate('DELETE')
    await world.clock.advance(hours(1) + minutes(2))
    expect((await world.ledger.binding('i', 'b'))?.phase).toBe('failed')
    fails = false
    await world.clock.advance(hours(1) + minutes(2))
    expect((await world.ledger.binding('i', 'b'))?.phase).toBe('deleted')
    expect(world.roles).toEqual(new Set())
    expect(world.told).toHaveLength(2)
  })

  it('whatever the process dies at, each thing is told in the history once, and nothing is left behind', async () => {
    const told = ['expiring', 'expired', 'accepted', 'succeeded']
    for (let point = 1, crashed = true; crashed; point += 1) {
      const world = createExpiryWorld({ bindings: { ...life, lifetime: '2m', renewBefore: '1m' } })
      const first = await world.boot()
      await bound(world, first, 'b')
      const process = await world.boot()
      await first.stop()
      process.crashAt(process.passed() + point)
      await world.clock.advance(minutes(4))
      crashed = process.isCrashed()
      process.crash()
      await world.boot()
      await world.clock.advance(minutes(4))
      // A crash in the middle of the unbind is swept.
      const events = (await historyOf(world, 'b')).filter(({ action }) => action !== 'sweep')
      const seen = events.slice(2).map(({ type }) => type)
      expect([point, seen]).toEqual([point, seen.includes('expiring') ? told : told.slice(1)])
      expect([point, world.roles.size]).toEqual([point, 0])
    }
  })

  it('two replicas tell of each binding once, and unbind each once', async () => {
    const world = createExpiryWorld()
    const [one] = [await world.boot(), await world.boot()]
    const many = Array.from({ length: 150 }, (_, index) => `b${index}`)
    await bound(world, one, ...many)
    await world.clock.advance(hours(8) + minutes(3))
    await world.clock.advance(hours(2) + minutes(3))
    expect(world.told.toSorted()).toEqual(
      many.flatMap(id => [`binding.expiresSoon ${id}`, `binding.expired ${id}`]).toSorted(),
    )
    expect(world.roles).toEqual(new Set())
    const begun = (await world.ledger.history('i')).filter(({ by }) => by === 'chore expiry')
    expect(begun).toHaveLength(many.length)
  })

  it('what cannot be read keeps no other binding from its end, however much of it comes first, and is named', async () => {
    const world = createExpiryWorld()
    const process = await world.boot()
    await process.provision('broken')
    await world.clock.advance(seconds(1))
    for (let index = 0; index < 110; index += 1) await process.bind('broken', `b${index}`)
    await world.clock.advance(seconds(1))
    await bound(world, process, 'good')
    await process.stop()
    const read = (id: string) => {
      if (id === 'broken') throw new UnsealError('no key fits it')
    }
    const { ledger } = world
    const store: Store = {
      ...ledger,
      async instance(id) {
        read(id)
        return ledger.instance(id)
      },
      async accept(target, decide) {
        read(target.instanceId)
        return ledger.accept(target, decide)
      },
    }
    await world.boot({ store })
    await world.clock.advance(hours(10) + minutes(3))
    expect(world.told).toEqual(['binding.expiresSoon good', 'binding.expired good'])
    expect([...world.roles].filter(id => id === 'good')).toEqual([])
    const { chores } = await world.ledger.chores()
    expect(chores.find(({ name }) => name === 'expiry')?.result).toEqual({
      ok: false,
      message: '110 bindings could not be looked at. The first one is b0 of the instance broken: no key fits it',
    })
  })

  it('operators list what expires, in the order in which it does', async () => {
    const world = createExpiryWorld()
    const process = await world.boot()
    await bound(world, process, 'first')
    await world.clock.advance(hours(1))
    await process.bind('i', 'second')
    await world.clock.advance(seconds(1))
    const { expiresAt = 0 } = (await world.ledger.binding('i', 'second')) ?? {}
    const admin = adminOf(process)
    const list = async (query: Readonly<Record<string, string>>) =>
      (await admin.bindings({ by: 'expires', order: 'oldest', ...query })).body.items?.map(({ id }) => id)
    expect(await list({})).toEqual(['first', 'second'])
    expect(await list({ before: iso(expiresAt) })).toEqual(['first'])
    expect(await list({ after: iso(expiresAt) })).toEqual(['second'])
    const [shown] = (await admin.bindings({ by: 'expires' })).body.items ?? []
    expect(shown).toMatchObject({ expires_at: iso(expiresAt), renew_before: iso(expiresAt - hours(2)) })
    expect((await admin.bindings({ by: 'size' })).status).toBe(400)
  })
})
