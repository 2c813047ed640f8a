import { describe, expect, it } from 'vitest'
import { createLimiter } from './limiter.ts'

describe('createLimiter', () => {
  it('runs some, lets some wait, refuses the rest, and hands places over', async () => {
    const limiter = createLimiter({ running: 2, waiting: 1 })
    const gates: (() => void)[] = []
    const started: number[] = []
    const task = (number: number) => () => {
      started.push(number)
      return new Promise<number>(resolve => gates.push(() => resolve(number)))
    }
    const results = [1, 2, 3, 4].map(number => limiter.run(task(number)))
    expect(await results[3]).toBeUndefined()
    expect(started).toEqual([1, 2])
    gates[0]?.()
    expect(await results[0]).toBe(1)
    await Promise.resolve()
    expect(started).toEqual([1, 2, 3])
    gates[1]?.()
    gates[2]?.()
    expect(await Promise.all(results)).toEqual([1, 2, 3, undefined])
  })

  it('frees the place of a task that fails', async () => {
    const limiter = createLimiter({ running: 1, waiting: 0 })
    await expect(limiter.run(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
    expect(await limiter.run(async () => 'next')).toBe('next')
  })
})
