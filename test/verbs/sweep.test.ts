import { describe, expect, it } from 'vitest'
import { type Service, TerminalError } from '../../src/index.ts'
import type { Settings } from '../../src/settings/settings.ts'
import { createWorld, ids, incomplete, minutes, type Process, seconds, takes, type World } from '../engine/world.ts'
import { adminOf } from './admin.ts'

const reason = 'its bucket is still there'

interface Backend {
  /** The state that each deprovision and unbind was given. */
  readonly calls: unknown[]
  failing: boolean
}

async function boot(service: Partial<Service> = {}, settings?: Settings) {
  const backend: Backend = { calls: [], failing: false }
  const remove = (what: string, state: unknown) => {
    backend.calls.push([what, state])
    if (backend.failing) throw new TerminalError('no such backend')
  }
  const world = createWorld({
    settings,
    service: {
      bindable: true,
      async provision() {
        return { state: { bucket: 'b1' } }
      },
      async deprovision(ctx) {
        await ctx.step('remove', () => remove('deprovision', ctx.state))
      },
      async bind() {
        return { credentials: {}, state: { role: 'r1' } }
      },
      async unbind(ctx) {
        await ctx.step('revoke', () => remove('unbind', ctx.bindingState))
      },
      ...service,
    },
  })
  const broker = await world.boot()
  return { world, broker, backend, admin: adminOf(broker) }
}

async function ended(world: World, accept: Promise<string>): Promise<string> {
  const operation = await accept
  await world.clock.advance(seconds(1))
  return operation
}

async function gone(world: World, broker: Process): Promise<string> {
  await ended(world, broker.provision('i'))
  const deletion = await ended(world, broker.deprovision('i'))
  expect(await broker.poll('i', deletion)).toMatchObject({ state: 'succeeded' })
  return deletion
}

/** Deleted while its provision was running, so that it is swept; and the sweep fails for good. */
async function sweptInVain() {
  const parts = await boot({
    async provision(ctx) {
      await ctx.saveState({ bucket: 'b1' })
      await ctx.step('create', () => takes(parts.world.clock, seconds(15)))
    },
  })
  const { world, broker, backend } = parts
  await broker.provision('i')
  await world.clock.advance(seconds(1))
  await broker.deprovision('i')
  while (world.watch.active()[0]?.action !== 'sweep') await world.clock.advance(seconds(1))
  backend.failing = true
  while (world.watch.active().length > 0) await world.clock.advance(minutes(1))
  backend.failing = false
  backend.calls.length = 0
  return parts
}

describe('a sweep by hand', () => {
  it('runs the deprovision once more after a sweep that failed for good, with what is known of the instance', async () => {
    const { world, admin, backend } = await sweptInVain()
    expect(await world.ledger.instance('i')).toMatchObject({ phase: 'deleted', state: { bucket: 'b1' } })
    const shown = (await admin.instance('i')).body.allowed_actions
    expect(shown).toMatchObject({ sweep: { allowed: true }, abandon: { allowed: false }, observe: { allowed: false } })

    const { status, body } = await admin.sweepInstance('i', { reason })
    expect(status).toBe(202)
    expect(body).toMatchObject({ action: 'sweep', state: 'queued', instance_id: 'i' })
    await world.clock.advance(minutes(5))
    expect(backend.calls).toEqual([['deprovision', { bucket: 'b1' }]])
    expect(await world.ledger.operation(body.id ?? '')).toMatchObject({ state: 'succeeded' })
    expect(await world.ledger.instance('i')).toMatchObject({ phase: 'deleted', state: {} })
    expect(await world.ledger.history('i')).toContainEqual(
      expect.objectContaining({ type: 'acted', verb: 'sweep', by: 'anonymous', reason, operationId: body.id }),
    )
  })

  it('of what was deleted cleanly runs at once, and tells no platform', async () => {
    const { world, broker, admin, backend } = await boot()
    const deletion = await gone(world, broker)
    const { body } = await admin.sweepInstance('i', { reason })
    await world.clock.advance(seconds(1))
    expect(backend.calls).toEqual([
      ['deprovision', { bucket: 'b1' }],
      ['deprovision', {}],
    ])
    expect((await admin.operation(body.id ?? '')).body).toMatchObject({ state: 'succeeded' })
    expect(await broker.poll('i')).toMatchObject({ state: 'succeeded' })
    expect((await world.ledger.instance('i'))?.lastOperationId).toBe(deletion)
    expect((await broker.client.deprovision('i', ids, incomplete)).status).toBe(410)
  })

  it('unbinds once more what went with the instance in doubt', async () => {
    const { world, broker, admin, backend } = await boot({
      async bind(ctx) {
        await ctx.step('grant', () => {
          throw new TerminalError('no answer')
        })
        return { credentials: {} }
      },
    })
    await ended(world, broker.provision('i'))
    await ended(world, broker.bind('i', 'b'))
    await world.ledger.accept({ instanceId: 'i', bindingId: 'b' }, ({ binding, now }) => ({
      answer: undefined,
      change: { bindings: binding === undefined ? [] : [{ ...binding, uncleanUntil: now + minutes(1) }] },
    }))
    await ended(world, broker.deprovision('i'))
    while (world.watch.active().length > 0) await world.clock.advance(minutes(1))
    backend.calls.length = 0
    await admin.sweepInstance('i', { reason })
    await world.clock.advance(seconds(1))
    expect(backend.calls.map(call => (call as string[])[0])).toEqual(['unbind', 'deprovision'])
    expect(world.watch.active()).toEqual([])
  })

  it('of a binding runs its unbind, and a DELETE of the instance waits for it', async () => {
    const { world, broker, admin, backend } = await boot()
    await ended(world, broker.provision('i'))
    await ended(world, broker.bind('i', 'b'))
    await ended(world, broker.unbind('i', 'b'))
    const order: string[] = []
    backend.calls.push = (...calls) => order.push(...calls.map(call => String((call as string[])[0])))
    const { status, body } = await admin.sweepInstance('i', { binding_id: 'b', reason })
    expect({ status, body }).toMatchObject({ status: 202, body: { action: 'sweep', binding_id: 'b' } })
    const deletion = await broker.deprovision('i')
    await world.clock.advance(minutes(10))
    expect(order).toEqual(['unbind', 'deprovision'])
    expect(await broker.poll('i', deletion)).toMatchObject({ state: 'succeeded' })
  })

  it('that is cut off is taken over, and swept once more', async () => {
    const { world, broker } = await boot()
    await gone(world, broker)
    let begun = 0
    const slow = await world.boot({
      service: {
        async deprovision(ctx) {
          begun += 1
          await ctx.step('remove', () => takes(world.clock, seconds(20)))
        },
      },
    })
    broker.crash()
    const { body } = await adminOf(slow).sweepInstance('i', { reason })
    await world.clock.advance(seconds(1))
    slow.crash()
    await world.boot({
      service: {
        async deprovision() {
          begun += 1
        },
      },
    })
    while (world.watch.active().length > 0) await world.clock.advance(minutes(1))
    // The first, whoever took it over, and the sweep of the call that got lost.
    expect(begun).toBe(3)
    expect(await world.ledger.operation(body.id ?? '')).toMatchObject({ state: 'succeeded', attempt: 2 })
  })

  it.each([
    ['an instance that is not there', 'x', {}, 404, 'There is no instance'],
    ['an instance that stands', 'i', {}, 409, 'The instance is not deleted'],
    ['a binding that is not there', 'i', { binding_id: 'x' }, 404, 'The instance has no binding'],
    ['a binding that stands', 'i', { binding_id: 'b' }, 409, 'The binding is not deleted'],
  ])('of %s is refused', async (_what, id, more, status, detail) => {
    const { world, broker, admin, backend } = await boot()
    await ended(world, broker.provision('i'))
    await ended(world, broker.bind('i', 'b'))
    const answer = await admin.sweepInstance(id, { ...more, reason })
    expect(answer.status).toBe(status)
    expect((answer.body as { detail?: string }).detail).toContain(detail)
    expect(backend.calls).toEqual([])
  })

  it('of a failed deletion is refused, and its retry is named', async () => {
    const { world, broker, admin, backend } = await boot()
    await ended(world, broker.provision('i'))
    backend.failing = true
    const failed = await ended(world, broker.deprovision('i'))
    const answer = await admin.sweepInstance('i', { reason })
    expect(answer).toMatchObject({ status: 409, body: { detail: expect.stringContaining('retry that operation') } })
    backend.failing = false
    expect((await admin.actOnOperation(failed, 'retry')).status).toBe(202)
    await world.clock.advance(seconds(1))
    expect(await world.ledger.instance('i')).toMatchObject({ phase: 'deleted' })
  })

  it('needs a reason, and a service that somebody here has', async () => {
    const { world, broker, admin } = await boot()
    await gone(world, broker)
    expect((await admin.sweepInstance('i', {} as never)).status).toBe(400)
    const other = await world.boot({ service: { id: 'another' } })
    const answer = await adminOf(other).sweepInstance('i', { reason })
    expect(answer).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('Nothing here can delete it') },
    })
  })

  it('is one of the verbs of a batch', async () => {
    const { world, broker, admin, backend } = await boot()
    await gone(world, broker)
    const { status, body } = await admin.createBatch({ action: 'sweep', ids: ['i', 'x'], reason })
    expect(status).toBe(202)
    await world.clock.advance(minutes(1))
    expect((await admin.batch(body.id ?? '')).body).toMatchObject({ state: 'done', done: 1, refused: 1 })
    expect(backend.calls.length).toBe(2)
  })
})
