import { type Clock, sleep } from '../../clock.ts'

const everyMs = 15_000

/**
 * Sandboxes belong to a machine, so each process looks after those that it reaches: at its start, for what another one left
 * when it died, and from time to time. Stops with the signal.
 */
export async function sweepFromTimeToTime(
  clock: Clock,
  sweep: () => Promise<unknown>,
  stopping: AbortSignal,
): Promise<void> {
  while (!stopping.aborted) {
    await sweep()
    await sleep(clock, everyMs, stopping)
  }
}
