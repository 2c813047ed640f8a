import { describe, expect, it } from 'vitest'
import type { Clock } from '../clock.ts'
import { type Call, callWithDeadline } from './call.ts'
import { LazyAbort } from './lazy-abort.ts'

/** A clock that goes on when it is told to. */
function createSetup() {
  const timers = new Set<() => void>()
  const clock: Clock = {
    now: () => 0,
    after(_ms, callback) {
      timers.add(callback)
      return () => timers.delete(callback)
    },
  }
  const ending = new LazyAbort()
  const run = <T>(fn: (call: Call) => T | Promise<T>) =>
    callWithDeadline(fn, { fence: 1, key: 'k' }, { timeout: 50, ending, clock })
  return { timers, ending, run }
}

const never = () => new Promise<never>(() => {})

describe('a call with a deadline', () => {
  it('sets no timer where the answer is there at once', async () => {
    const { timers, run } = createSetup()
    const answered = run(({ fence, key }) => `${key}${fence}`)
    expect(timers.size).toBe(0)
    expect(await answered).toBe('k1')
  })

  it('gives up when the time is over, and aborts the signal that was asked for', async () => {
    const { timers, run } = createSetup()
    let signal: AbortSignal | undefined
    const answered = run(call => {
      signal = call.signal
      return never()
    })
    for (const fire of timers) fire()
    await expect(answered).rejects.toThrow('no answer within 50 milliseconds')
    expect(signal?.aborted).toBe(true)
    expect(timers.size).toBe(0)
  })

  it('has a deadline for what can be awaited and is no promise', async () => {
    const { timers, run } = createSetup()
    // biome-ignore lint/suspicious/noThenProperty: this is what some libraries return
    const answered = run(() => ({ then() {} }))
    for (const fire of timers) fire()
    await expect(answered).rejects.toThrow('no answer within 50 milliseconds')
  })

  it('ends with the run, also where the call itself has ended the run', async () => {
    const { timers, ending, run } = createSetup()
    const reason = new Error('lost')
    const answered = run(({ signal }) => {
      ending.abort(reason)
      return never().finally(() => signal)
    })
    await expect(answered).rejects.toBe(reason)
    await expect(run(() => 1)).rejects.toBe(reason)
    expect(timers.size).toBe(0)
  })

  it('shows the abort to who asks for the signal later', async () => {
    const { ending, run } = createSetup()
    let call: Call | undefined
    const answered = run(given => {
      call = given
      return never()
    })
    const reason = new Error('stopping')
    ending.abort(reason)
    await expect(answered).rejects.toBe(reason)
    expect(call?.signal.reason).toBe(reason)
  })

  it('leaves nothing behind when the answer comes', async () => {
    const { timers, ending, run } = createSetup()
    expect(await run(async () => 2)).toBe(2)
    await expect(run(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(timers.size).toBe(0)
    let heard = 0
    ending.onAbort(() => heard++)()
    ending.abort('over')
    expect(heard).toBe(0)
  })
})
