import { systemClock } from '../clock.ts'
import type { NameHolder } from '../domain/replica-name.ts'

/** What can be seen of a store from outside. To look changes nothing in it, and makes nothing. */
export interface StoreExam {
  /** Its schema; 0 where nothing of a ledger is there yet. Absent where that cannot be seen from outside now. */
  readonly version?: number
  /** The schema of this release. */
  readonly known: number
  /** One question and its answer, in milliseconds. */
  readonly latencyMs: number
  /** How much its clock is ahead of that of this machine; absent where it has none of its own. */
  readonly aheadMs?: number
  /** Who has it alone, for people; absent where many may, or nobody does. */
  readonly heldBy?: string
  /** What this user may not do there and a broker has to, each with what to do. */
  readonly refused?: readonly string[]
  /** Who was last seen under the name of a replica, by the store's clock, and how long ago. */
  readonly holder?: NameHolder & { readonly agoMs: number }
}

/** Asks for the time of a store, and says how far it is from ours: half of the way lies before the answer. */
export async function compareClocks(
  ask: () => Promise<number>,
): Promise<Required<Pick<StoreExam, 'latencyMs' | 'aheadMs'>>> {
  const { answer, sentAt, latencyMs } = await askQuickly(ask)
  return { latencyMs, aheadMs: answer - (sentAt + latencyMs / 2) }
}

/** Asks a few times, and goes by the quickest answer: the others tell how busy this machine was. */
export async function askQuickly<Answer>(ask: () => Promise<Answer>): Promise<Asked<Answer>> {
  const asked: Asked<Answer>[] = []
  while (asked.length < times) {
    const [sentAt, began] = [systemClock.now(), performance.now()]
    const answer = await ask()
    asked.push({ answer, sentAt, latencyMs: performance.now() - began })
  }
  return asked.reduce((quickest, each) => (each.latencyMs < quickest.latencyMs ? each : quickest))
}

const times = 5

interface Asked<Answer> {
  readonly answer: Answer
  /** By this machine's clock. */
  readonly sentAt: number
  readonly latencyMs: number
}
