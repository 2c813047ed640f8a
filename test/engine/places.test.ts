import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { type Store, StoreUnavailableError } from '../../src/store.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { createWorld, seconds } from './world.ts'

/** A store that counts the looks for work. */
function createCounted() {
  const clock = createVirtualClock()
  const store = createMemoryStore({ clock })
  let claims = 0
  const counted: Store = {
    ...store,
    claim(...request) {
      claims += 1
      return store.claim(...request)
    },
  }
  return { clock, store: counted, claims: () => claims }
}

describe('an operation that is accepted where it can run', () => {
  it('is run without a look for it, and none comes after it', async () => {
    const { clock, store, claims } = createCounted()
    const world = createWorld({ clock, store, service: {} })
    const process = await world.boot()
    await clock.advance(1)
    const before = claims()
    for (const id of ['a', 'b', 'c']) {
      await process.provision(id)
      await clock.advance(1)
      expect(await process.poll(id)).toMatchObject({ state: 'succeeded' })
    }
    expect(claims()).toBe(before)
  })

  it('waits its turn where no place is free, and those who waited longer come first', async () => {
    const begun: string[] = []
    let goOn = () => {}
    const toldToGoOn = new Promise<void>(resolve => {
      goOn = resolve
    })
    const world = createWorld({
      service: {
        async provision(ctx) {
          begun.push(ctx.instance.id)
          await toldToGoOn
        },
      },
    })
    const process = await world.boot({ concurrency: 1 })
    for (const id of ['first', 'second', 'third', 'last']) await process.provision(id)
    await world.clock.advance(1)
    expect(begun).toEqual(['first'])
    goOn()
    while (begun.length < 4) await world.clock.advance(seconds(1))
    expect(begun).toEqual(['first', 'second', 'third', 'last'])
  })

  it('waits where nobody knows who waited longer, as a look for them has failed', async () => {
    const begun: string[] = []
    const world = createWorld({ service: { provision: async ctx => void begun.push(ctx.instance.id) } })
    let isDown = true
    const store: Store = {
      ...world.ledger,
      async claim(...request) {
        if (isDown) throw new StoreUnavailableError('down')
        return world.ledger.claim(...request)
      },
    }
    const process = await world.boot({ store })
    await world.clock.advance(1)
    for (const id of ['first', 'last']) await process.provision(id)
    await world.clock.advance(1)
    expect(begun).toEqual([])
    isDown = false
    while (begun.length < 2) await world.clock.advance(seconds(1))
    expect(begun).toEqual(['first', 'last'])
  })

  it('is handed back where the process stops while it is being accepted', async () => {
    const begun: string[] = []
    const world = createWorld({ service: { provision: async ctx => void begun.push(ctx.instance.id) } })
    let accepted = () => {}
    const slow: Store = {
      ...world.ledger,
      async accept(...request) {
        const answer = await world.ledger.accept(...request)
        await new Promise<void>(resolve => {
          accepted = resolve
        })
        return answer
      },
    }
    const stopping = await world.boot({ store: slow })
    await world.clock.advance(1)
    const asked = stopping.provision('i')
    await world.clock.advance(1)
    const stopped = stopping.stop()
    await world.clock.advance(seconds(1))
    accepted()
    await Promise.all([asked, stopped])
    expect(begun).toEqual([])
    await world.boot()
    await world.clock.advance(1)
    expect(begun).toEqual(['i'])
  })
})

describe('the place of an operation whose last write is under way', () => {
  /** A ledger that takes last writes when it is told to. */
  async function bootSlow(concurrency: number) {
    const begun: string[] = []
    const world = createWorld({ service: { provision: async ctx => void begun.push(ctx.instance.id) } })
    let write = () => {}
    const told = new Promise<void>(resolve => {
      write = resolve
    })
    const store: Store = { ...world.ledger, finish: (...request) => told.then(() => world.ledger.finish(...request)) }
    const process = await world.boot({ concurrency, store })
    await world.clock.advance(1)
    const ids = ['a', 'b', 'c', 'd', 'e', 'f']
    for (const id of ids) await process.provision(id)
    await world.clock.advance(seconds(1))
    return { world, process, begun, write, ids }
  }

  it('is free for another one', async () => {
    const { process, begun, ids } = await bootSlow(6)
    expect(begun).toEqual(ids)
    expect(await process.poll('a')).toMatchObject({ state: 'in progress' })
    await process.provision('more')
    expect(begun).toEqual([...ids, 'more'])
  })

  it('is not free where as many wait for theirs as there are places', async () => {
    const { world, process, begun, write, ids } = await bootSlow(2)
    expect(begun).toEqual(ids.slice(0, 4))
    write()
    await world.clock.advance(seconds(1))
    expect(begun).toEqual(ids)
    for (const id of ids) expect(await process.poll(id)).toMatchObject({ state: 'succeeded' })
  })
})
