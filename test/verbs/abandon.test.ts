import { describe, expect, it } from 'vitest'
import { type Service, TerminalError } from '../../src/index.ts'
import type { Settings } from '../../src/settings/settings.ts'
import { createWorld, ids, incomplete, minutes, type Process, seconds, takes, type World } from '../engine/world.ts'
import { adminOf } from './admin.ts'

const reason = 'its backend is gone'
const never = () => new Promise<never>(() => {})

async function boot(
  service: Partial<Service>,
  settings?: Settings,
): Promise<{ readonly world: World; readonly broker: Process }> {
  const world = createWorld({
    settings,
    service: { bindable: true, bind: async () => ({ credentials: {} }), async unbind() {}, ...service },
  })
  return { world, broker: await world.boot() }
}

async function provisioned(service: Partial<Service>, settings?: Settings) {
  const { world, broker } = await boot(service, settings)
  await broker.provision('i')
  await world.clock.advance(seconds(1))
  expect((await broker.poll('i')).state).toBe('succeeded')
  return { world, broker, admin: adminOf(broker) }
}

async function untilSwept({ clock, watch }: World): Promise<void> {
  while (watch.active()[0]?.action !== 'sweep') await clock.advance(seconds(1))
}

describe('an instance whose deprovision fails for good', () => {
  const broken: Partial<Service> = {
    async provision() {
      return { state: { bucket: 'secret-bucket', user: 'u' } }
    },
    async deprovision() {
      throw new TerminalError('no such backend')
    },
  }

  it('counts as deleted, and the answer names what is left without its values', async () => {
    const { world, broker, admin } = await provisioned(broken)
    const failed = await broker.deprovision('i')
    await world.clock.advance(seconds(1))
    expect(await broker.poll('i', failed)).toMatchObject({ state: 'failed' })

    const { status, body } = await admin.abandonInstance('i', { reason })
    expect(status).toBe(200)
    expect(body).toEqual({
      instance_id: 'i',
      service_id: 'service',
      plan_id: 'plan',
      phase: 'deleted',
      operation: expect.any(String),
      remains: { state_keys: ['bucket', 'user'], sandboxes: [], bindings: [] },
    })
    expect(await broker.poll('i')).toEqual({ state: 'succeeded', description: 'deleted by an operator of the broker' })
    expect(await broker.poll('i', failed)).toMatchObject({ state: 'failed' })
    expect((await broker.client.deprovision('i', ids, incomplete)).status).toBe(410)
    expect(await world.ledger.instance('i')).toMatchObject({ phase: 'deleted', state: {}, usable: false })
    expect((await world.ledger.history('i')).at(-1)).toMatchObject({
      type: 'acted',
      verb: 'abandon',
      by: 'anonymous',
      reason,
      operationId: body.operation,
      before: { phase: 'ready' },
      after: { phase: 'deleted' },
    })
  })

  it('is gone for polls where those of a deleted instance are answered with 410', async () => {
    const { broker, admin } = await provisioned(broken, { osb: { pollAfterDelete: 'gone' } })
    await admin.abandonInstance('i', { reason })
    expect((await broker.client.lastOperation('i')).status).toBe(410)
  })

  it('can be made again at once under the same id, since nothing was running', async () => {
    const { world, broker, admin } = await provisioned(broken)
    await admin.abandonInstance('i', { reason })
    await broker.provision('i')
    await world.clock.advance(seconds(1))
    expect((await broker.poll('i')).state).toBe('succeeded')
  })

  it('needs a reason, is 404 where nobody knows it, and 410 the second time', async () => {
    const { admin } = await provisioned(broken)
    expect(await admin.abandonInstance('i', { reason: ' ' })).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('reason') },
    })
    expect(await admin.abandonInstance('i', { reason: 'x'.repeat(1_001) })).toMatchObject({ status: 400 })
    expect(await admin.abandonInstance('nobody', { reason })).toMatchObject({ status: 404 })
    expect((await admin.abandonInstance('i', { reason })).status).toBe(200)
    expect(await admin.abandonInstance('i', { reason })).toMatchObject({
      status: 410,
      body: { error: 'InstanceGone' },
    })
  })
})

describe('an operation that is running', () => {
  it('a deprovision that hangs has succeeded for the platform, and its worker writes nothing more', async () => {
    let ended = false
    const { world, broker, admin } = await provisioned({
      async deprovision(ctx) {
        await ctx.step('drop', async () => {
          await takes(world.clock, seconds(15))
          ended = true
        })
      },
    })
    const operation = await broker.deprovision('i')
    await world.clock.advance(seconds(1))
    const { body } = await admin.abandonInstance('i', { reason })
    expect(body).toMatchObject({ operation, ended: { operation, action: 'deprovision', state: 'succeeded' } })
    expect(await broker.poll('i', operation)).toMatchObject({ state: 'succeeded' })
    const row = await world.ledger.operation(operation)
    await world.clock.advance(seconds(30))
    expect(ended).toBe(true)
    expect(await world.ledger.operation(operation)).toEqual(row)
    expect(await world.ledger.steps(operation)).toEqual([])
  })

  it('a provision is superseded; what is made under its id begins when none of its calls can land', async () => {
    const log: string[] = []
    const { world, broker } = await boot({
      async provision(ctx) {
        const name = ctx.operation.id
        await ctx.step('create', async () => {
          log.push(`${name} begins`)
          await takes(world.clock, seconds(log.length === 1 ? 18 : 1))
          log.push(`${name} lands`)
        })
      },
    })
    const admin = adminOf(broker)
    const first = await broker.provision('i')
    await world.clock.advance(seconds(1))
    const { body } = await admin.abandonInstance('i', { reason })
    expect(body).toMatchObject({ ended: { operation: first, action: 'provision', state: 'superseded' } })
    expect(body.operation).not.toBe(first)
    const quiet = Date.parse(body.remains?.quiet_until ?? '')
    expect(quiet).toBeGreaterThan(world.clock.now())
    const second = await broker.provision('i')
    await world.clock.advance(quiet - world.clock.now() - 1)
    expect(log).toEqual([`${first} begins`, `${first} lands`])
    await world.clock.advance(minutes(2))
    expect(log).toEqual([`${first} begins`, `${first} lands`, `${second} begins`, `${second} lands`])
    expect((await broker.poll('i')).state).toBe('succeeded')
    expect((await world.ledger.history('i')).map(({ type }) => type)).toEqual([
      'accepted',
      'superseded',
      'acted',
      'accepted',
      'succeeded',
    ])
  })

  it('an update is superseded', async () => {
    const { broker, admin, world } = await provisioned({ update: never })
    const update = await broker.update('i', { size: '2' })
    await world.clock.advance(seconds(1))
    const { body } = await admin.abandonInstance('i', { reason })
    expect(body).toMatchObject({ ended: { operation: update, action: 'update', state: 'superseded' } })
    expect(await broker.poll('i')).toMatchObject({ state: 'succeeded' })
  })
})

describe('bindings', () => {
  const stuck: Partial<Service> = {
    async bind() {
      return { credentials: {}, state: { role: 'secret-role' } }
    },
    async unbind() {
      throw new TerminalError('no such role')
    },
  }

  async function bound(service: Partial<Service> = stuck) {
    const all = await provisioned(service)
    await all.broker.bind('i', 'b')
    await all.world.clock.advance(seconds(1))
    expect(await all.broker.pollBinding('i', 'b')).toEqual({ state: 'succeeded' })
    return all
  }

  it('refuse it, unless they are asked for too', async () => {
    const { world, broker, admin } = await bound()
    expect(await admin.abandonInstance('i', { reason })).toMatchObject({
      status: 422,
      body: { error: 'BindingsExist', detail: expect.stringContaining('1 binding') },
    })
    expect(await world.ledger.instance('i')).toMatchObject({ phase: 'ready' })
    const { body } = await admin.abandonInstance('i', { reason, bindings: true })
    expect(body.remains?.bindings).toEqual([{ id: 'b', state_keys: ['role'], sandboxes: [] }])
    expect(await world.ledger.bindings('i')).toEqual([])
    expect(await broker.pollBinding('i', 'b')).toMatchObject({ state: 'succeeded' })
    expect((await broker.client.unbind('i', 'b', ids)).status).toBe(410)
    const verbs = (await world.ledger.history('i')).filter(({ type }) => type === 'acted')
    expect(verbs.map(({ bindingId }) => bindingId)).toEqual(['b', undefined])
  })

  it('that failed go with it, as they do with a deprovision', async () => {
    const { world, broker, admin } = await bound()
    await broker.unbind('i', 'b')
    await world.clock.advance(seconds(1))
    expect(await world.ledger.binding('i', 'b')).toMatchObject({ phase: 'failed' })
    const { status, body } = await admin.abandonInstance('i', { reason })
    expect(status).toBe(200)
    expect(body.remains?.bindings).toHaveLength(1)
    expect(await world.ledger.binding('i', 'b')).toMatchObject({ phase: 'deleted', state: {} })
  })

  it('that are being bound are superseded, and write nothing more', async () => {
    const { world, broker, admin } = await provisioned({ bind: never })
    const bind = await broker.bind('i', 'b')
    await world.clock.advance(seconds(1))
    expect((await admin.abandonInstance('i', { reason })).status).toBe(422)
    await admin.abandonInstance('i', { reason, bindings: true })
    expect(await world.ledger.operation(bind)).toMatchObject({ state: 'superseded' })
    await world.clock.advance(minutes(5))
    expect(await world.ledger.operation(bind)).toMatchObject({ state: 'superseded' })
    expect(world.watch.active()).toEqual([])
  })

  it('that are being swept are swept no more', async () => {
    let grants = 0
    const { world, broker, admin } = await provisioned({
      async bind(ctx) {
        await ctx.step('grant', () => {
          grants += 1
          return takes(world.clock, seconds(15))
        })
        return { credentials: {} }
      },
      async unbind(ctx) {
        await ctx.step('revoke', async () => {})
      },
    })
    await broker.bind('i', 'b')
    await world.clock.advance(seconds(1))
    await broker.unbind('i', 'b')
    await untilSwept(world)
    expect(grants).toBe(1)
    expect(world.watch.active()).toMatchObject([{ action: 'sweep', bindingId: 'b' }])
    expect((await admin.abandonInstance('i', { reason })).status).toBe(200)
    expect(world.watch.active()).toEqual([])
  })
})

describe('a deletion that is still swept', () => {
  it('is held by its sweep no more', async () => {
    const { world, broker } = await boot({
      async provision(ctx) {
        await ctx.step('create', () => takes(world.clock, seconds(15)))
      },
    })
    const admin = adminOf(broker)
    await broker.provision('i')
    await world.clock.advance(seconds(1))
    const deletion = await broker.deprovision('i')
    await untilSwept(world)
    expect(world.watch.active()).toMatchObject([{ action: 'sweep' }])
    const { status, body } = await admin.abandonInstance('i', { reason })
    expect(status).toBe(200)
    expect(body).toMatchObject({ operation: deletion, ended: { action: 'sweep', state: 'superseded' } })
    expect(world.watch.active()).toEqual([])
    expect((await admin.abandonInstance('i', { reason })).status).toBe(410)
  })

  it('is not taken along any more by a creation that waits for it', async () => {
    const { world, broker } = await boot({
      async provision(ctx) {
        await ctx.step('create', () => takes(world.clock, seconds(15)))
      },
    })
    const admin = adminOf(broker)
    await broker.provision('i')
    await world.clock.advance(seconds(1))
    await broker.deprovision('i')
    await untilSwept(world)
    const second = await broker.provision('i')
    const { body } = await admin.abandonInstance('i', { reason })
    expect(body).toMatchObject({ ended: { operation: second, state: 'superseded' } })
    expect(body.remains?.quiet_until).toBeDefined()
    expect(world.watch.active()).toEqual([])
    expect((await world.ledger.operation(second))?.input).toEqual({})
  })
})
