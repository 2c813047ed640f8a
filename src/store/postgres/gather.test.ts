import { describe, expect, it } from 'vitest'
import { createGatherer } from './gather.ts'

describe('a gatherer', () => {
  it('sends together what comes in one turn, and what comes meanwhile', async () => {
    const { batches, gather, answer, turn } = create(1)
    const first = gather(1)
    const second = gather(2)
    expect(batches).toEqual([])
    await turn()
    const others = Promise.all([3, 4].map(gather))
    await turn()
    expect(batches).toEqual([[1, 2]])
    await answer()
    expect(batches).toEqual([
      [1, 2],
      [3, 4],
    ])
    await answer()
    expect([await first, await second, ...(await others)]).toEqual([10, 20, 30, 40])
  })

  it('does not let callers split into two that take turns', async () => {
    const { batches, gather, answer, turn } = create(1)
    const caller = async (calls: number) => {
      for (let call = 0; call < calls; call += 1) await gather(call)
    }
    const first = caller(4)
    await turn()
    const all = [first, ...Array.from({ length: 6 }, () => caller(3))]
    for (let round = 0; round < 4; round += 1) await answer()
    await Promise.all(all)
    expect(batches.map(batch => batch.length)).toEqual([1, 7, 7, 7])
  })

  it('sends a large batch at once, while the answers before it are worked on', async () => {
    const { batches, gather, answer, turn } = create(1)
    const again = gather(1).then(() => gather(1))
    await turn()
    const others = Promise.all(Array.from({ length: 16 }, (_, index) => gather(index)))
    for (let round = 0; round < 3; round += 1) await answer()
    await Promise.all([again, others])
    expect(batches.map(batch => batch.length)).toEqual([1, 16, 1])
  })

  it('splits many callers into two equal parts, one of which is sent while the other works on its answers', async () => {
    const { batches, gather, answer, turn } = create(1)
    const working: number[] = []
    const caller = async (id: number) => {
      for (let call = 0; call < 2; call += 1) {
        await gather(id)
        working.push(batches.length)
      }
    }
    const all = Promise.all(Array.from({ length: 64 }, (_, id) => caller(id)))
    await turn()
    for (let round = 0; round < 4; round += 1) await answer()
    await all
    expect(batches.map(batch => batch.length)).toEqual([32, 32, 32, 32])
    expect(batches[2]).toEqual(batches[0])
    // Each had the next batch on its way before it was answered.
    expect(working).toEqual([2, 3, 4, 4].flatMap(sent => Array.from({ length: 32 }, () => sent)))
  })

  it('has as many batches under way as it has lanes', async () => {
    const { batches, gather, answer, turn } = create(2)
    const answers: Promise<number>[] = []
    for (const number of [1, 2, 3]) {
      answers.push(gather(number))
      await turn()
    }
    answers.push(gather(4))
    expect(batches).toEqual([[1], [2]])
    await answer()
    expect(batches).toEqual([[1], [2], [3, 4]])
    await answer()
    await answer()
    expect(await Promise.all(answers)).toEqual([10, 20, 30, 40])
  })

  it('fails all of a batch that failed, and goes on', async () => {
    const { gather, answer, fail, turn } = create(1)
    const first = gather(1)
    await turn()
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
    expect(batches.map(batch => batch.length)).toEqual([100, 100, 51])
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
  // After whatever else waits for the same turn.
  const turn = () => new Promise(resolve => setImmediate(() => setImmediate(resolve)))
  return {
    batches,
    gather,
    turn,
    answer() {
      open.shift()?.answer()
      return turn()
    },
    fail(error: Error) {
      open.shift()?.fail(error)
      return turn()
    },
  }
}
