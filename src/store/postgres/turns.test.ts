import { describe, expect, it } from 'vitest'
import { StoreUnavailableError } from '../../store.ts'
import { createTurns } from './turns.ts'

describe('turns', () => {
  it('runs the jobs of one key one after the other, those of others meanwhile', async () => {
    const turns = createTurns()
    const log: string[] = []
    let open = () => {}
    const gate = new Promise<void>(resolve => {
      open = resolve
    })
    const first = turns.take('a', async () => {
      await gate
      log.push('first')
    })
    const second = turns.take('a', async () => void log.push('second'))
    await turns.take('b', async () => void log.push('other'))
    open()
    await Promise.all([first, second])
    expect(log).toEqual(['other', 'first', 'second'])
  })

  it('goes on after a job that failed', async () => {
    const turns = createTurns()
    const failed = turns.take('a', () => Promise.reject(new Error('refused')))
    const next = turns.take('a', async () => 'done')
    await expect(failed).rejects.toThrow('refused')
    expect(await next).toBe('done')
  })

  it('fails those who wait behind an unavailable store, and not those who come later', async () => {
    const turns = createTurns()
    const down = new StoreUnavailableError('down')
    const failed = [
      turns.take('a', () => Promise.reject(down)),
      turns.take('a', async () => 'never'),
      turns.take('a', async () => 'never'),
    ]
    for (const outcome of await Promise.allSettled(failed))
      expect(outcome).toEqual({ status: 'rejected', reason: down })
    expect(await turns.take('a', async () => 'done')).toBe('done')
  })
})
