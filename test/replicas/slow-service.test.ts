import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Service } from '../../src/index.ts'
import { openSqliteStore } from '../../src/store/sqlite/index.ts'
import type { TestBrokerOptions } from '../../src/testing/test-broker.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { numbers } from '../engine/bursts.ts'
import { createWorld, incomplete, type Process, serviceOf, type World } from '../engine/world.ts'
import { testFolder } from '../store/sqlite-drivers.ts'
import { describeWorlds } from './worlds.ts'

type Make = (options: Partial<TestBrokerOptions> & { readonly service: Partial<Service> }) => Promise<World>

/** What began, in order; an instance whose id begins with `slow` ends when it is told to go on. */
async function makeServices(make: Make, settings: TestBrokerOptions['settings'] = {}, own: Partial<Service> = {}) {
  const begun: string[] = []
  const goOn = new Map<string, () => void>()
  const create = (id: string, more: Partial<Service> = {}) => ({
    ...serviceOf({
      async provision(ctx) {
        begun.push(ctx.instance.id)
        if (ctx.instance.id.startsWith('slow')) await new Promise<void>(resolve => goOn.set(ctx.instance.id, resolve))
      },
      ...more,
    }),
    id,
    name: id,
    plans: [{ id: `${id}-plan`, name: 'plan', description: 'The plan' }],
  })
  const services = [create('slow', own), create('quick'), create('third')]
  // A call may hang for as long as the test takes.
  const engine = { lease: '1h', callTimeout: '20m', ...settings.engine } as const
  const world = await make({ service: {}, services, settings: { ...settings, engine } })
  const boot = async (concurrency: number) => {
    const process = await world.boot({ concurrency })
    onTestFinished(process.crash)
    return process
  }
  /** Passes time until it is so. */
  const until = async (isSo: () => boolean | Promise<boolean>) => {
    for (let waited = 0; !(await isSo()); waited += 1) {
      if (waited > 500) throw new Error(`it did not come about; begun: ${begun.join(' ')}`)
      await world.clock.advance(100)
    }
  }
  return { world, begun, boot, until, goOn }
}

function put(process: Process, service: string, id: string) {
  return process.client.provision(id, { service_id: service, plan_id: `${service}-plan` }, incomplete)
}

async function putAll(process: Process, service: string, ids: readonly string[]): Promise<void> {
  for (const id of ids) expect(await put(process, service, id)).toMatchObject({ status: 202 })
}

async function isDone(process: Process, id: string): Promise<boolean> {
  return (await process.poll(id)).state === 'succeeded'
}

const slow = (count: number) => numbers(count).map(id => `slow-${id}`)

function tests(make: Make) {
  it('leaves places to the others, who begin in their order, as long as it hangs', async () => {
    const { begun, boot, until } = await makeServices(make)
    const process = await boot(4)
    await putAll(process, 'slow', slow(10))
    await until(() => begun.length === 3)
    await putAll(process, 'quick', numbers(6))
    await until(async () => (await Promise.all(numbers(6).map(id => isDone(process, id)))).every(Boolean))
    expect(begun).toEqual([...slow(3), ...numbers(6)])
  })

  it('gets no more where the work was there before the worker', async () => {
    const { world, begun, boot, until } = await makeServices(make)
    const first = await boot(4)
    await putAll(first, 'slow', slow(10))
    await until(() => begun.length === 3)
    await putAll(first, 'quick', ['a'])
    await until(() => isDone(first, 'a'))
    first.crash()
    const second = await boot(4)
    await putAll(second, 'third', ['b'])
    await until(() => isDone(second, 'b'))
    // The leases of the first one stand: what is new is what the second one began.
    expect(begun.filter(id => id.startsWith('slow'))).toEqual([...slow(6)])
    expect((await world.ledger.backlog(100)).due).toBe(4)
  })
}

describeWorlds('a service that hangs', tests)

describe('a service that hangs: sqlite', () =>
  tests(async options => {
    const clock = createVirtualClock()
    const store = await openSqliteStore({ file: join(testFolder(), 'ledger.db'), clock })
    onTestFinished(() => store.close())
    return createWorld({ ...options, clock, store })
  }))

describe('who may have how many places', () => {
  const memory: Make = async options => createWorld(options)

  it('one service alone may have all', async () => {
    const begun: string[] = []
    const never = new Promise<void>(() => {})
    const world = createWorld({
      service: {
        async provision(ctx) {
          begun.push(ctx.instance.id)
          await never
        },
      },
    })
    const process = await world.boot({ concurrency: 4 })
    for (const id of numbers(6)) await process.provision(id)
    await world.clock.advance(100)
    expect(begun).toEqual(numbers(4))
  })

  it('engine.perService is the number, and a place that is given back is the next one’s', async () => {
    const { begun, boot, until, world, goOn } = await makeServices(memory, { engine: { perService: 2 } })
    const process = await boot(8)
    await putAll(process, 'slow', slow(5))
    await putAll(process, 'quick', numbers(5))
    await until(() => begun.length === 7)
    expect(begun.filter(id => id.startsWith('slow'))).toEqual(slow(2))
    goOn.get('slow-i1')?.()
    // At once, and not when the ledger is next looked at.
    await world.clock.advance(1)
    expect(begun).toHaveLength(8)
    expect(begun.at(-1)).toBe('slow-i3')
    expect((await world.ledger.backlog(100)).due).toBe(2)
  })

  it('the concurrency of a service itself is above that', async () => {
    const { begun, boot, until } = await makeServices(memory, { engine: { perService: 1 } }, { concurrency: 3 })
    const process = await boot(8)
    await putAll(process, 'slow', slow(5))
    await putAll(process, 'quick', ['slow-a', 'slow-b'])
    await until(() => begun.length === 4)
    expect(begun).toEqual([...slow(3), 'slow-a'])
  })

  it('engine.perPlatform is the number of a platform, over all services', async () => {
    const { begun, boot, until } = await makeServices(memory, {
      engine: { perPlatform: 2, perService: 8 },
      osb: { prefixes: ['east'], requireOrgAndSpace: false },
    })
    const process = await boot(8)
    const east = process.createClient({ url: `${process.url}/east` })
    await putAll(process, 'slow', slow(3))
    await putAll(process, 'quick', ['slow-q'])
    const asked = { service_id: 'quick', plan_id: 'quick-plan' }
    expect(await east.provision('slow-east', asked, incomplete)).toMatchObject({ status: 202 })
    await until(() => begun.length === 3)
    expect(begun).toEqual(['slow-i1', 'slow-i2', 'slow-east'])
  })

  it('a claim never brings more than may run, however many places are free', async () => {
    const { begun, boot, until, world } = await makeServices(memory, {}, { concurrency: 2 })
    const first = await boot(1)
    await putAll(first, 'third', ['slow-first'])
    await putAll(first, 'slow', slow(6))
    await putAll(first, 'quick', numbers(3))
    const second = await boot(8)
    await until(async () => (await Promise.all(numbers(3).map(id => isDone(second, id)))).every(Boolean))
    expect(begun).toEqual(['slow-first', ...slow(2), ...numbers(3)])
    expect(await world.ledger.backlog(100)).toMatchObject({ due: 4, running: 3 })
  })
})

describe('what waits for a service that hangs', () => {
  it('does not make the broker refuse the others, and refuses its own', async () => {
    const { world, begun, boot, until } = await makeServices(async options => createWorld(options), {
      engine: { timeouts: { provision: '1m' }, callTimeout: '30s', lease: '2m' },
    })
    const process = await boot(4)
    await putAll(process, 'slow', slow(30))
    await until(() => begun.length === 3)
    await world.clock.advance(10_000)
    const refused = put(process, 'slow', 'slow-late')
    await world.clock.advance(2_000)
    expect(await refused).toMatchObject({ status: 503, body: { error: 'QueueTooLong' } })
    for (const id of numbers(8)) {
      const asked = put(process, 'quick', id)
      await world.clock.advance(1_000)
      expect(await asked, id).toMatchObject({ status: 202 })
    }
    await until(async () => (await Promise.all(numbers(8).map(id => isDone(process, id)))).every(Boolean))
  })
})
