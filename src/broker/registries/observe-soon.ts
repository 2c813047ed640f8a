import { decideObserveSoon } from '../../domain/decide-observe.ts'
import type { RunningChores } from '../../engine/chores.ts'
import { accept } from '../accept.ts'
import type { BrokerContext } from '../context.ts'

/** Has an instance observed now, and not when its turn comes. Where the ledger does not answer, its turn comes all the same. */
export function createObserveSoon(broker: BrokerContext, chores: Pick<RunningChores, 'run'>) {
  return async (instanceId: string): Promise<void> => {
    try {
      const isDue = await accept(broker, { instanceId }, decideObserveSoon)
      if (isDue) await chores.run('observe')
    } catch {
      // Its schedule stands.
    }
  }
}
