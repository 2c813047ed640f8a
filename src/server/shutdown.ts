import { systemClock } from '../clock.ts'

/** A terminal's Ctrl-C reaches a process and, through the one that started it, reaches it again: that is one wish. */
const sameWish = 1_000

/** Resolves with the first signal that asks this process to end; another one, later, ends it at once. */
export function untilStopped(): Promise<string> {
  return new Promise(resolve => {
    let askedAt: number | undefined
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.on(signal, () => {
        if (askedAt !== undefined && systemClock.now() - askedAt > sameWish) process.exit(130)
        askedAt ??= systemClock.now()
        resolve(signal)
      })
  })
}

/** A process ends by itself when nothing is left to do; a database that never answers a good-bye would keep it for ever. */
export function endSoon(): void {
  systemClock.after(1_000, () => process.exit())
}
