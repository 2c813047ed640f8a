import { describe, expect, it } from 'vitest'
import { createGatherer } from './gather.ts'

describe('a gatherer', () => {
  it('sends the first at once, and what comes meanwhile together', async () => {
    const { batches, gather, answer } = create(1)
    const answers = Promise.all([1, 2, 3].map(gather))
    expect(batches).toEqual([[1]])
    await answer()
    expect(batches).toEqual([[1], [2, 3]])
    await answer()
    expect(await answers).toEqual([10, 20, 30])
  })

  it('has as many batches under way as it has lanes', async () => {
    const { batches, gather, answer } = create(2)
    const answers = Promise.all([1, 2, 3, 4].map(gather))
    expect(batches).toEqual([[1], [2]])
    await answer()
    expect(batches).toEqual([[1], [2], [3, 4]])
    await answer()
    await answer()
    expect(await answers).toEqual([10, 20, 30, 40])
  })

  it('fails all of a batch that failed, and goes on', async () => {
    const { gather, answer, fail } = create(1)
    const first = gather(1)
    const others = Promise.allSettled([2, 3].map(gather))
    await answer()
    const last = gather(4)
    await fail(new Error('down'))
    expect((await others).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await answer()
    expect(await Promise.all([first, last])).toEqual([10, 40])
  })

  it('lets one of a batch fail alone, and waits for none of them', async () => {
    const gather = createGatherer<number, number>({
      lanes: () => 2,
      send: async items => items.map(item => (item === 2 ? undefined : item)),
      alone: () => Promise.reject(new Error('two')),
    })
    const [one, two, three] = await Promise.allSettled([1, 2, 3].map(gather))
    expect(one).toEqual({ status: 'fulfilled', value: 1 })
    expect(two).toMatchObject({ status: 'rejected', reason: new Error('two') })
    expect(three).toEqual({ status: 'fulfilled', value: 3 })
  })

  it('bounds a batch', async () => {
    const { batches, gather, answer } = create(1)
    const answers = Promise.all(Array.from({ length: 251 }, (_, index) => gather(index)))
    for (let round = 0; round < 4; round += 1) await answer()
    await answers
    expect(batches.map(batch => batch.length)).toEqual([1, 100, 100, 50])
  })
})

/** Answers ten times each number, when told to. */
function create(lanes: number) {
  const batches: (readonly number[])[] = []
  const open: { answer(): void; fail(error: Error): void }[] = []
  const gather = createGatherer<number, number>({
    lanes: () => lanes,
    send(items) {
      batches.push(items)
      return new Promise((resolve, reject) => {
        open.push({ answer: () => resolve(items.map(item => item * 10)), fail: reject })
      })
    },
  })
  const settled = () => new Promise(resolve => setImmediate(resolve))
  return {
    batches,
    gather,
    answer() {
      open.shift()?.answer()
      return settled()
    },
    fail(error: Error) {
      open.shift()?.fail(error)
      return settled()
    },
  }
}
