import { sleep } from '../../clock.ts'
import { BrokerError } from '../../protocol/errors.ts'
import type { RunningChores } from '../chores/by-hand.ts'
import type { BrokerContext } from '../context.ts'

const lookEvery = 100

/**
 * Asks every registry and waits for the end of it, as long as a request may wait; false where it takes longer. A sync that
 * runs already may have asked too early: the next one is waited for, which is one for all who wait.
 */
export async function syncAndWait(
  { clock, settings, stopping }: BrokerContext,
  chores: RunningChores,
): Promise<boolean> {
  const until = clock.now() + settings.server.syncTimeout
  const latest = async () => (await chores.list()).find(({ name }) => name === 'sync')
  const isOwn = (await chores.run('sync')) !== undefined
  const early = isOwn ? undefined : (await latest())?.latest?.dueAt
  while (clock.now() < until && !stopping.aborted) {
    const sync = await latest()
    if (sync?.running === false && sync.latest?.dueAt !== early) return isDone(sync.latest?.result)
    if (sync?.running === false) await chores.run('sync')
    await sleep(clock, lookEvery, stopping)
  }
  return false
}

function isDone(result: { readonly ok: boolean; readonly message?: string } | undefined): boolean {
  if (result?.ok === false)
    throw new BrokerError('ActionFailed', `The sync failed: ${result.message ?? 'the log says why'}.`)
  return true
}
