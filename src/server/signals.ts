import { systemClock } from '../clock.ts'

/** SIGHUP is the good-bye of a terminal, or a wish to start anew: whoever keeps the process running starts it again. */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
export type StopSignal = (typeof signals)[number]

/** A terminal's Ctrl-C reaches a process and, through the one that started it, reaches it again: that is one wish. */
const sameWish = 1_000

/**
 * Resolves with the first signal that asks this process to end; another one, later, ends it at once. SIGHUP never does: who
 * reloads twice, or loses a terminal meanwhile, wants nothing to be killed.
 */
export function untilStopped(): Promise<StopSignal> {
  return new Promise(resolve => {
    let askedAt: number | undefined
    for (const signal of signals)
      process.on(signal, () => {
        const isSameWish = askedAt === undefined || systemClock.now() - askedAt <= sameWish
        if (!isSameWish && signal !== 'SIGHUP') process.exit(130)
        askedAt ??= systemClock.now()
        resolve(signal)
      })
  })
}
