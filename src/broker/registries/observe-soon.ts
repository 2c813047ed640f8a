import { type Drifted, decideObserveSoon, type ObserveSoon } from '../../domain/decide-observe.ts'
import type { RunningChores } from '../../engine/chores.ts'
import { accept } from '../accept.ts'

type AcceptParts = Parameters<typeof accept>[0]

/** Of those that claim the same thing, one has to look. So many are asked, where others are being updated or deleted. */
const mostAsked = 20

/** Has what has drifted looked at now, and not when its turn comes. Where the ledger does not answer, its turn comes all the same. */
export function createObserveSoon(broker: AcceptParts, chores: Pick<RunningChores, 'run'>) {
  const ask = (instanceId: string): Promise<ObserveSoon> => accept(broker, { instanceId }, decideObserveSoon)

  async function askAny(claim: string): Promise<ObserveSoon> {
    for (const instanceId of await broker.store.claimants(claim, mostAsked)) {
      const answer = await ask(instanceId)
      if (answer !== 'not') return answer
    }
    return 'not'
  }

  return async (drifted: Drifted): Promise<void> => {
    try {
      const answer = await ('claim' in drifted ? askAny(drifted.claim) : ask(drifted.instanceId))
      if (answer === 'due') await chores.run('observe')
    } catch {
      // Its schedule stands.
    }
  }
}
