/** What a backend holds and the ledger does not, and the other way round. */
import { describe, expect, it } from 'vitest'
import type { BackendItem, Service } from '../../src/index.ts'
import { BrokerError } from '../../src/protocol/errors.ts'
import { createWorld, minutes, type Process, seconds, serviceOf, takes } from '../engine/world.ts'
import { adminOf } from './admin.ts'

const hours = (count: number) => minutes(60 * count)
const reason = 'left by the outage'

/** A backend that is a map, which a test can change behind the broker's back. */
function createBackendWorld(more: Partial<Service> = {}) {
  const backend = new Map<string, BackendItem>()
  const removed: unknown[] = []
  const keyOf = (instanceId: string, bindingId?: string) => [instanceId, bindingId].filter(Boolean).join('/')
  const world = createWorld({
    settings: { engine: { pollInterval: '1h' }, chores: { survey: '-', batches: '-', purge: '-', expiry: '-' } },
    service: {
      async provision(ctx) {
        const { id } = ctx.instance
        backend.set(keyOf(id), { name: keyOf(id), instanceId: id, createdAt: world.clock.now() })
      },
      async deprovision(ctx) {
        removed.push([ctx.instance.id, ctx.state])
        backend.delete(keyOf(ctx.instance.id))
      },
      async bind(ctx) {
        const name = keyOf(ctx.instance.id, ctx.binding.id)
        const ids = { instanceId: ctx.instance.id, bindingId: ctx.binding.id }
        backend.set(name, { name, ...ids, createdAt: world.clock.now() })
        return { credentials: {} }
      },
      async unbind(ctx) {
        removed.push([ctx.instance.id, ctx.binding.id, ctx.bindingState])
        backend.delete(keyOf(ctx.instance.id, ctx.binding.id))
      },
      async *list() {
        yield* backend.values()
      },
      ...more,
    },
  })
  const put = (item: Omit<BackendItem, 'name'> & { readonly name?: string }) => {
    const name = item.name ?? keyOf(item.instanceId ?? '', item.bindingId)
    backend.set(name, { name, ...item })
  }
  return { ...world, backend, removed, put }
}

async function report(process: Process) {
  const { body } = await adminOf(process).orphans()
  return (body.items ?? []).map(({ kind, name, removable, reason: why }) => [kind, name, removable ? 'go' : why])
}

describe('orphans', () => {
  it('are what the backend holds and the ledger does not; what it lacks is missing', async () => {
    const world = createBackendWorld()
    const process = await world.boot()
    for (const id of ['kept', 'lost']) await process.provision(id)
    await world.clock.advance(seconds(1))
    await process.bind('kept', 'b')
    await world.clock.advance(seconds(1))
    expect(await report(process)).toEqual([])
    await world.clock.advance(hours(25))
    world.backend.delete('lost')
    const old = world.clock.now() - hours(25)
    world.put({ instanceId: 'old', createdAt: old })
    world.put({ instanceId: 'young', createdAt: world.clock.now() - hours(23) })
    world.put({ instanceId: 'ageless' })
    world.put({ name: 'nobody', createdAt: old })
    world.put({ instanceId: 'kept', bindingId: 'gone', createdAt: new Date(old) })
    world.put({ instanceId: 'old', bindingId: 'b', createdAt: new Date(old).toISOString() })
    expect(await report(process)).toEqual([
      ['orphan', 'old', 'go'],
      ['orphan', 'young', 'It is too young.'],
      ['orphan', 'ageless', 'Nobody knows how old it is.'],
      ['orphan', 'nobody', 'It names no instance.'],
      ['orphan', 'kept/gone', 'go'],
      ['orphan', 'old/b', 'It goes with its instance.'],
      ['missing', 'lost', 'The ledger has it, and the backend does not.'],
    ])
  })

  it('an instance that may have nothing in the backend is not missing there', async () => {
    const world = createBackendWorld({ emptyInstances: true })
    const process = await world.boot()
    await process.provision('i')
    await world.clock.advance(hours(25))
    world.backend.clear()
    expect(await report(process)).toEqual([])
  })

  it('are removed by operations that run the author’s own deletions, with who and why in the history', async () => {
    const world = createBackendWorld()
    const process = await world.boot()
    await process.provision('kept')
    await world.clock.advance(seconds(1))
    const createdAt = world.clock.now() - hours(25)
    world.put({ instanceId: 'old', createdAt, state: { disk: 'd1' } })
    world.put({ instanceId: 'kept', bindingId: 'gone', createdAt, state: { role: 'r1' } })
    const admin = adminOf(process)
    const dry = (await admin.removeOrphans({ reason, dry_run: true })).body
    expect(dry.items?.map(({ name, removable, operation }) => [name, removable, operation])).toEqual([
      ['old', true, undefined],
      ['kept/gone', true, undefined],
    ])
    await world.clock.advance(seconds(1))
    expect(world.backend.size).toBe(3)

    const { status, body } = await admin.removeOrphans({ reason })
    expect(status).toBe(200)
    expect(body.items?.every(({ operation }) => operation !== undefined)).toBe(true)
    await world.clock.advance(seconds(5))
    expect(world.removed).toEqual([
      ['old', { disk: 'd1' }],
      ['kept', 'gone', { role: 'r1' }],
    ])
    expect([...world.backend.keys()]).toEqual(['kept'])
    for (const { instance_id = '', operation = '' } of body.items ?? []) {
      expect((await world.ledger.operation(operation))?.state).toBe('succeeded')
      const events = (await world.ledger.history(instance_id)).filter(({ operationId }) => operationId === operation)
      expect(events.map(({ type, verb, reason: why }) => [type, verb, why])).toEqual([
        ['acted', 'remove-orphan', reason],
        ['succeeded', undefined, undefined],
      ])
    }
    expect((await world.ledger.instance('old'))?.phase).toBe('deleted')
    expect((await world.ledger.instance('kept'))?.phase).toBe('ready')
    // The id is free again.
    await process.provision('old')
    await world.clock.advance(minutes(1))
    expect((await process.client.fetchInstance('old')).status).toBe(200)
  })

  it('that were deleted here before are swept', async () => {
    const world = createBackendWorld()
    const process = await world.boot()
    await process.provision('i')
    await world.clock.advance(seconds(1))
    await process.deprovision('i')
    await world.clock.advance(seconds(1))
    const createdAt = world.clock.now() - hours(25)
    world.put({ instanceId: 'i', createdAt, state: { disk: 'd1' } })
    expect(await report(process)).toEqual([['orphan', 'i', 'It is too young.']])
    await world.clock.advance(hours(25))
    const { body } = await adminOf(process).removeOrphans({ reason })
    await world.clock.advance(seconds(5))
    expect((await world.ledger.operation(body.items?.[0]?.operation ?? ''))?.action).toBe('sweep')
    expect(world.backend.size).toBe(0)
    // What was deleted has no state: the author's action finds what the list says.
    expect(world.removed.at(-1)).toEqual(['i', { disk: 'd1' }])
    expect((await world.ledger.instance('i'))?.state).toEqual({})
  })

  it('of a binding that was deleted here before are swept, with what the list says', async () => {
    const world = createBackendWorld()
    const process = await world.boot()
    await process.provision('i')
    await world.clock.advance(seconds(1))
    await process.bind('i', 'b')
    await world.clock.advance(seconds(1))
    await process.unbind('i', 'b')
    await world.clock.advance(hours(25))
    world.put({ instanceId: 'i', bindingId: 'b', createdAt: 0, state: { role: 'r1' } })
    const { body } = await adminOf(process).removeOrphans({ reason })
    await world.clock.advance(seconds(5))
    expect((await world.ledger.operation(body.items?.[0]?.operation ?? ''))?.action).toBe('sweep')
    expect(world.removed.at(-1)).toEqual(['i', 'b', { role: 'r1' }])
    expect((await world.ledger.binding('i', 'b'))?.state).toEqual({})
  })

  it('nothing of an active operation is touched, and who asks for the id meanwhile has it', async () => {
    const world = createBackendWorld({
      async provision(ctx) {
        world.put({ instanceId: ctx.instance.id, createdAt: 0 })
        await ctx.step('slow', () => takes(world.clock, seconds(5)))
      },
    })
    const process = await world.boot()
    await process.provision('i')
    await world.clock.advance(seconds(1))
    expect(await report(process)).toEqual([])
    expect((await adminOf(process).removeOrphans({ reason })).body.items).toEqual([])
    world.put({ instanceId: 'j', createdAt: 0 })
    const other = await world.boot({
      service: {
        async *list() {
          yield* [...world.backend.values()]
          // Between the list and the removal.
          await process.provision('j')
        },
      },
    })
    const { body } = await adminOf(other).removeOrphans({ reason })
    expect(body.items).toMatchObject([{ name: 'j', removable: false, reason: 'It belongs to somebody by now.' }])
    await world.clock.advance(seconds(10))
    expect((await world.ledger.instance('j'))?.phase).toBe('ready')
    expect(world.removed).toEqual([])
  })

  it('a removal goes on after a crash', async () => {
    const world = createBackendWorld({
      async deprovision(ctx) {
        await ctx.step('slow', () => takes(world.clock, seconds(5)))
        world.backend.delete(ctx.instance.id)
      },
    })
    const process = await world.boot()
    world.put({ instanceId: 'old', createdAt: 0 })
    const { body } = await adminOf(process).removeOrphans({ reason })
    await world.clock.advance(seconds(2))
    process.crash()
    await world.boot()
    await world.clock.advance(hours(2))
    expect((await world.ledger.operation(body.items?.[0]?.operation ?? ''))?.state).toBe('succeeded')
    expect(world.backend.size).toBe(0)
  })

  it('half of a list says nothing', async () => {
    const world = createBackendWorld({
      async *list() {
        yield { name: 'old', instanceId: 'old', createdAt: 0 }
        throw new Error('no route')
      },
    })
    const process = await world.boot()
    expect((await adminOf(process).orphans()).status).toBe(500)
    expect((await adminOf(process).removeOrphans({ reason })).status).toBe(500)
    await world.clock.advance(seconds(5))
    expect(await world.ledger.instance('old')).toBeUndefined()
  })

  it('one backend that fails, and one that is full of them, keep no others from being compared', async () => {
    const plan = { id: 'plan', name: 'plan', description: 'The plan' }
    const named = (id: string, list: Service['list']) =>
      serviceOf({ id, name: id, plans: [{ ...plan, id: `${id}-plan` }], list })
    const failures: string[] = []
    const world = createWorld({
      service: {},
      observer: { 'service.notListed': ({ service, error }) => failures.push(`${service}: ${error.message}`) },
      services: [
        named('broken', async function* () {
          yield { name: 'half', instanceId: 'half', createdAt: 0 }
          throw new Error('no route to canary')
        }),
        named('unable', () => {
          throw new BrokerError('BackendNotListed', 'A right is missing.')
        }),
        named('full', async function* () {
          for (let index = 0; index < 1_001; index += 1) yield { name: `nameless-${index}` }
        }),
        named('good', async function* () {
          yield { name: 'old', instanceId: 'old', createdAt: 0 }
        }),
      ],
    })
    const process = await world.boot()
    const admin = adminOf(process)
    const { status, body } = await admin.orphans()
    expect(status).toBe(200)
    expect(body.items).toHaveLength(1_001)
    expect(body.items?.at(-1)).toMatchObject({ service_id: 'good', name: 'old', removable: true })
    expect(body).toMatchObject({
      services: ['full', 'good'],
      failed: [
        { service_id: 'broken', reason: 'Its list has failed. The log of the broker says how.' },
        { service_id: 'unable', reason: 'A right is missing.' },
      ],
      incomplete: true,
    })
    expect(failures).toEqual(['broken: no route to canary', 'unable: A right is missing.'])
    expect((await admin.orphans({ service_id: 'unable' })).body.error).toBe('BackendNotListed')

    const removed = (await admin.removeOrphans({ reason })).body
    expect(removed.failed).toHaveLength(2)
    expect(removed.items?.flatMap(({ name, operation }) => (operation === undefined ? [] : [name]))).toEqual(['old'])
    expect(await world.ledger.instance('half')).toBeUndefined()
  })

  it('only services that can list are asked', async () => {
    const world = createBackendWorld({ list: undefined })
    const process = await world.boot()
    const admin = adminOf(process)
    expect((await admin.orphans()).body).toMatchObject({ items: [], services: [] })
    expect((await admin.orphans({ service_id: 'service' })).body).toMatchObject({ error: 'UnknownService' })
    expect((await admin.removeOrphans({ reason: '' })).status).toBe(400)
  })
})
