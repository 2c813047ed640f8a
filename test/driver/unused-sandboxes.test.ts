import { describe, expect, it } from 'vitest'
import { createUnusedSandboxRemover } from '../../src/broker/registries/remove-unused-sandboxes.ts'
import { systemClock } from '../../src/clock.ts'
import { silent } from '../../src/observer.ts'
import { type Runtime, RuntimeUnavailableError } from '../../src/sandbox.ts'
import { asynchronous, idsOf, patient, place, useWorlds, type World } from './world.ts'

const open = useWorlds()

async function createRemover(world: World, more: Partial<Parameters<typeof createUnusedSandboxRemover>[0]> = {}) {
  return createUnusedSandboxRemover({
    runtimes: [await world.runtimeOf()],
    store: world.store,
    brokerLabel: 'test',
    keepOnError: false,
    clock: systemClock,
    graceMs: 0,
    observer: silent,
    ...more,
  })
}

describe('unused sandboxes', () => {
  it('takes what ended operations left, and leaves what is needed, young or of others', async () => {
    const world = await open({
      script: 'while [ ! -e $out/go ]; do sleep 0.02; done',
      settings: { engine: { timeouts: { ...patient, provision: 60_000 } } },
    })
    const { client } = await world.start()
    const ids = idsOf(world)
    const answer = await client.provision('i', { ...ids, ...place }, asynchronous)
    const runtime = await world.runtimeOf()
    await world.until(async () => (await runtime.list()).length === 1)
    expect(await (await createRemover(world))()).toBe(0)
    expect(await world.ended(answer)).toMatchObject({ state: 'failed' })
    expect(await (await createRemover(world, { graceMs: 3_600_000 }))()).toBe(0)
    expect(await (await createRemover(world, { brokerLabel: 'another' }))()).toBe(0)
    expect(await runtime.list()).toHaveLength(1)
    expect(await (await createRemover(world))()).toBe(1)
    expect(await runtime.list()).toEqual([])
  })

  it('keeps one that failed while nothing came after it', async () => {
    const world = await open({
      script: 'exit 1',
      quick: true,
      parts: { keepOnError: true },
    })
    const { client } = await world.start()
    const ids = idsOf(world)
    await world.ended(await client.provision('i', { ...ids, ...place }, asynchronous))
    const runtime = await world.runtimeOf()
    const keeping = await createRemover(world, { keepOnError: true })
    expect(await keeping()).toBe(0)
    expect(await runtime.list()).toHaveLength(1)
    // The next one ended on another machine, which cannot reach what is here.
    const { lastOperationId = '', ...instance } = (await world.store.instance('i')) ?? {}
    const store = { ...world.store, instance: async () => ({ ...instance, lastOperationId: `${lastOperationId}x` }) }
    expect(await (await createRemover(world, { keepOnError: true, store: store as World['store'] }))()).toBe(1)
    expect(await runtime.list()).toEqual([])
  })

  it('goes on where one runtime does not answer', async () => {
    const world = await open({ script: 'exit 1', quick: true, parts: { keepOnError: true } })
    const { client } = await world.start()
    await world.ended(await client.provision('i', { ...idsOf(world), ...place }, asynchronous))
    const runtime = await world.runtimeOf()
    const mute: Runtime = {
      ...runtime,
      list: async () => {
        throw new RuntimeUnavailableError('no answer')
      },
    }
    expect(await (await createRemover(world, { runtimes: [mute, runtime] }))()).toBe(1)
  })
})
