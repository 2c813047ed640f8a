import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { askQuickly, compareClocks } from './exam.ts'

/** A question that is answered by the number of the times it was asked, each after so many milliseconds. */
function takes(...times: readonly number[]) {
  let time = 0
  let asked = 0
  const now = vi.spyOn(performance, 'now').mockImplementation(() => time)
  onTestFinished(() => now.mockRestore())
  return async () => {
    time += times[asked] ?? 0
    return ++asked
  }
}

describe('what is seen of a store from outside', () => {
  it('goes by the quickest of a few answers', async () => {
    expect(await askQuickly(takes(300, 200, 10, 200, 200))).toMatchObject({ answer: 3, latencyMs: 10 })
  })

  it('compares the clocks by the same one', async () => {
    const ask = takes(300, 10, 200, 200, 200)
    const hour = 3_600_000
    const { aheadMs } = await compareClocks(async () => Date.now() + ((await ask()) === 2 ? 0 : hour))
    expect(Math.abs(aheadMs)).toBeLessThan(hour / 2)
  })
})
