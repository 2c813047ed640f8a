import { type Clock, sleep } from '../../clock.ts'
import type { RunningChores } from '../../engine/chores.ts'
import type { Registry } from '../../registry.ts'

/** Many changes make one sync. */
const quiet = 1_000
const againAfter = 5_000

/**
 * Asks all registries when one of them says that its list may have changed. A watch that ends is begun anew; the schedule of the
 * sync stands whatever becomes of it. Ends with the signal, and does not throw.
 */
export async function syncOnChange(
  registries: readonly Registry[],
  chores: Pick<RunningChores, 'run'>,
  { clock, stopping }: { readonly clock: Clock; readonly stopping: AbortSignal },
): Promise<void> {
  let changed = false
  let wake = new AbortController()
  const onChange = () => {
    changed = true
    wake.abort()
  }
  stopping.addEventListener('abort', () => wake.abort(), { once: true })
  const watched = registries.filter(({ watch }) => watch !== undefined)
  if (watched.length === 0) return
  const watching = watched.map(async registry => {
    while (!stopping.aborted) {
      await registry.watch?.(onChange, stopping).catch(() => undefined)
      await sleep(clock, againAfter, stopping)
    }
  })
  while (!stopping.aborted) {
    if (!changed) await sleep(clock, 3_600_000, wake.signal)
    wake = new AbortController()
    if (!changed) continue
    await sleep(clock, quiet, stopping)
    if (stopping.aborted) break
    changed = false
    // One that runs already may have asked before the change.
    const begun = await chores.run('sync').catch(() => undefined)
    if (begun === undefined) {
      changed = true
      await sleep(clock, againAfter, stopping)
    }
  }
  await Promise.all(watching)
}
