import { type Clock, sleep } from '../clock.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { Upkeep } from '../upkeep.ts'

const interval = 15_000
/** Who has said nothing for so long is no longer told of. */
const silence = 50_000

export interface AnnounceOptions {
  readonly store: Pick<Upkeep, 'putBulletin'>
  readonly clock: Clock
  readonly owner: string
  /** What operators see of this process now. */
  readonly describe: () => JsonObject
}

/** Says again and again that this process lives. Nothing is decided by it, so a failure is no more than a gap. */
export function startAnnouncing({ store, clock, owner, describe }: AnnounceOptions): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const say = (keepFor: number) =>
    store.putBulletin({ kind: 'worker', key: owner, doc: describe(), keepFor }).catch(() => {})

  async function sayUntilStopped(): Promise<void> {
    while (!stopping.signal.aborted) {
      await say(silence)
      await sleep(clock, interval, stopping.signal)
    }
  }
  const saying = sayUntilStopped()

  return {
    async stop() {
      stopping.abort()
      await saying
      await say(0)
    },
  }
}
