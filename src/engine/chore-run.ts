import type { Clock } from '../clock.ts'
import { type Observer, toError } from '../observer.ts'
import type { ChoreLease, ChoreResult, Upkeep } from '../upkeep.ts'
import { AbortedError, messageOf } from './errors.ts'

/** What a chore's code works with. */
export interface ChoreRun {
  /** Aborted when the lease is lost or the process stops: the code throws, and whoever takes the chore over begins anew. */
  readonly signal: AbortSignal
  /** The store's clock, as well as it is known here. */
  now(): number
}

export interface ChoreRunOptions {
  readonly store: Upkeep
  readonly clock: Clock
  readonly observer: Observer
  readonly leaseTime: number
  readonly lease: ChoreLease
  /** The local time just before the lease was asked for, and how far the store's clock is ahead of the local one. */
  readonly sentAt: number
  readonly offset: number
  readonly stopping: AbortSignal
}

/**
 * Runs a chore that was taken, under its lease. An error ends the run, and the next period tries again. A run that was
 * stopped is not ended: its lease runs out and another replica, or this one after its restart, takes the same period over,
 * as after a crash. So a rolling restart skips nobody's clean-up, and there is one way to go on, not two.
 */
export async function runChore(
  run: (run: ChoreRun) => Promise<string | undefined>,
  options: ChoreRunOptions,
): Promise<void> {
  const { clock, observer, lease, offset, stopping } = options
  const chore = lease.name
  const controller = new AbortController()
  const stop = () => controller.abort(new AbortedError('the process stops'))
  const release = keepLease(options, () => controller.abort(new AbortedError('the lease was lost')))
  stopping.addEventListener('abort', stop, { once: true })
  if (stopping.aborted) stop()
  const startedAt = clock.now()
  observer['chore.started']?.({ chore })
  try {
    const message = await run({ signal: controller.signal, now: () => clock.now() + offset })
    observer['chore.succeeded']?.({ chore, message, durationMs: clock.now() - startedAt })
    await finish(options, { ok: true, message: message ?? 'nothing to do' })
  } catch (error) {
    const event = { chore, durationMs: clock.now() - startedAt, error: toError(error) }
    if (controller.signal.aborted) {
      observer['chore.interrupted']?.(event)
      return
    }
    observer['chore.failed']?.(event)
    await finish(options, { ok: false, message: messageOf(error) })
  } finally {
    stopping.removeEventListener('abort', stop)
    release()
  }
}

async function finish({ store, observer, lease }: ChoreRunOptions, result: ChoreResult): Promise<void> {
  try {
    if (!(await store.finishChore(lease, result))) observer['chore.lost']?.({ chore: lease.name })
  } catch (error) {
    // It stays unfinished, and is run once more when its lease is over.
    observer['chore.unrecorded']?.({ chore: lease.name, error: toError(error) })
  }
}

/**
 * Renews the lease until it is released. It counts as lost when the store says so, and also, while the store does not
 * answer, a tenth before the end that the holder's own clock measures.
 */
function keepLease(options: ChoreRunOptions, onLost: () => void): () => void {
  const { store, clock, leaseTime, lease, sentAt } = options
  let until = sentAt + leaseTime
  let over = false
  let cancelWatch = () => {}
  let cancelRenewal = () => {}
  const release = () => {
    over = true
    cancelWatch()
    cancelRenewal()
  }
  const lose = () => {
    release()
    onLost()
  }
  const watch = () => {
    cancelWatch()
    cancelWatch = clock.after(Math.max(0, until - leaseTime * 0.1 - clock.now()), lose)
  }
  const scheduleRenewal = () => {
    cancelRenewal = clock.after(leaseTime / 3, () => void renew())
  }
  const renew = async () => {
    const askedAt = clock.now()
    const held = await store.renewChore(lease, leaseTime).catch(() => undefined)
    if (over) return
    if (held === false) return lose()
    if (held === true) {
      until = askedAt + leaseTime
      watch()
    }
    scheduleRenewal()
  }
  watch()
  scheduleRenewal()
  return release
}
