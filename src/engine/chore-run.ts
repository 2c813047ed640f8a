import { type Clock, sleep } from '../clock.ts'
import { toError } from '../observer.ts'
import { messageOf } from '../shape/thrown.ts'
import type { ChoreLease, ChoreResult, Upkeep } from '../upkeep.ts'
import { HeldLease, type HolderOptions } from './held-lease.ts'

/** What a chore's code works with. */
export interface ChoreRun {
  /** Aborted when the lease is lost or the process stops: the code throws, and whoever takes the chore over begins anew. */
  readonly signal: AbortSignal
  /** The store's clock, as well as it is known here. */
  now(): number
}

export interface ChoreRunOptions extends Pick<HolderOptions, 'clock' | 'observer' | 'leaseTime'> {
  readonly store: Upkeep
  readonly lease: ChoreLease
  /** The local time just before the lease was asked for, and the store's at that time. */
  readonly sentAt: number
  readonly storeNow: number
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
  const { store, clock, observer, lease, leaseTime, stopping } = options
  const chore = lease.name
  const held = new HeldLease({
    ...options,
    lost: 'the lease was lost',
    renew: () => store.renewChore(lease, leaseTime),
  })
  const stop = () => held.abort('stopping')
  stopping.addEventListener('abort', stop, { once: true })
  if (stopping.aborted) stop()
  void keepLease(held, clock, leaseTime)
  const startedAt = clock.now()
  observer['chore.started']?.({ chore })
  try {
    const message = await run({ signal: held.signal, now: () => held.storeNow() })
    observer['chore.succeeded']?.({ chore, message, durationMs: clock.now() - startedAt })
    await finish(options, { ok: true, message: message ?? 'nothing to do' })
  } catch (error) {
    const event = { chore, durationMs: clock.now() - startedAt, error: toError(error) }
    if (held.signal.aborted) {
      observer['chore.interrupted']?.(event)
      return
    }
    observer['chore.failed']?.(event)
    await finish(options, { ok: false, message: messageOf(error) })
  } finally {
    stopping.removeEventListener('abort', stop)
    held.end()
  }
}

async function keepLease(held: HeldLease<ChoreLease>, clock: Clock, leaseTime: number): Promise<void> {
  while (!held.signal.aborted) {
    await sleep(clock, leaseTime / 3, held.signal)
    // While the store does not answer, the lease is held for as long as it stands.
    if (!held.signal.aborted) await held.renew().catch(() => undefined)
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
