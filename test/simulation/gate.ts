import type { Clock } from '../../src/clock.ts'
import type { Random } from './random.ts'

/**
 * What stands between a process and everything that can make it run: its timers and the messages to it. A paused process
 * (SIGSTOP, a virtual machine that is moved) gets all of it later; a dead one never.
 */
export interface Gate {
  /** The process's own clock: its timers wait here too, and it may be wrong. */
  readonly clock: Clock
  deliver(message: () => void): void
  isDead(): boolean
  pause(): void
  resume(): void
  kill(): void
}

export function createGate(world: Clock, random: Random, skewMs: number): Gate {
  let state: 'open' | 'paused' | 'dead' = 'open'
  let timers: (() => void)[] = []
  let messages: (() => void)[] = []

  function enter(waiting: (() => void)[], input: () => void): void {
    if (state === 'open') input()
    else if (state === 'paused') waiting.push(input)
  }

  const deliver = (message: () => void) => enter(messages, message)
  const fire = (timer: () => void) => enter(timers, timer)

  return {
    clock: {
      now: () => world.now() + skewMs,
      after(ms, callback) {
        let isCancelled = false
        const cancel = world.after(ms, () =>
          fire(() => {
            if (!isCancelled) callback()
          }),
        )
        return () => {
          isCancelled = true
          cancel()
        }
      },
    },
    deliver,
    isDead: () => state === 'dead',
    pause() {
      if (state === 'open') state = 'paused'
    },
    resume() {
      if (state !== 'paused') return
      state = 'open'
      const overdue = timers.map(timer => () => fire(timer))
      const arrived = messages.map(message => () => deliver(message))
      timers = []
      messages = []
      // Where a process was stopped in its loop decides what it turns to first. Each input has its turn of its own.
      const inputs = random.chance(0.5) ? [...overdue, ...arrived] : [...arrived, ...overdue]
      for (const input of inputs) world.after(0, input)
    },
    kill() {
      state = 'dead'
      timers = []
      messages = []
    },
  }
}
