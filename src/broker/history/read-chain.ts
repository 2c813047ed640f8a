import { type ChainLine, toEntry } from '../../domain/chain.ts'
import { BrokerError } from '../../protocol/errors.ts'
import type { Chain, Store } from '../../store.ts'
import { type ReadEnds, readEnds } from './chain-note.ts'

/** Where the chain begins and ends, and how many lines are not in it yet. */
export interface ChainStatus extends Omit<ReadEnds, 'version'> {
  readonly unlinked: number
  /** How many lines have a number that no line of the chain can have. */
  readonly strays: number
  /** Whether the broker has a key, so that the ends should be proven. */
  readonly keyed: boolean
}

export async function readChainStatus(store: Store): Promise<ChainStatus> {
  const chain = requireChain(store)
  for (;;) {
    const { version, ...ends } = await readEnds(store)
    const [unlinked, strays] = [await chain.countUnlinked(), await chain.countStray(ends)]
    // Counted against these ends, and not against older ones.
    if ((await readEnds(store)).version !== version) continue
    return { ...ends, unlinked, strays, keyed: store.sealing?.keyring !== undefined }
  }
}

/** The lines after a number. */
export async function readChainLines(store: Store, after: number, max: number): Promise<readonly ChainLine[]> {
  const lines = await requireChain(store).linked(after, max)
  return lines.map(({ no, hash, event }) => ({ no, hash, entry: event && toEntry(no, event) }))
}

function requireChain({ chain, name }: Store): Chain {
  if (chain !== undefined) return chain
  throw new BrokerError('VerbRefused', `${name} keeps no chain of its history: it is a store of your own.`)
}
