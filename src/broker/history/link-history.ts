import { type ChainEnds, findFault, type Link, nextLink, toEntry } from '../../domain/chain.ts'
import type { ChoreRun } from '../../engine/chore-run.ts'
import { count } from '../../shape/count.ts'
import { type Chain, NoteConflictError, type Store } from '../../store.ts'
import type { BrokerContext } from '../context.ts'
import { proveEnds, type ReadEnds, readEnds, writeEnds } from './chain-note.ts'

export const historyChore = 'history'

/** Few enough that their locks delay no request. */
const batchSize = 500

/** Puts new lines into the chain, then removes those that are older than `history.keep`. Cut off anywhere, it goes on the next time. */
export async function keepHistory(
  { store, settings }: Pick<BrokerContext, 'store' | 'settings'>,
  chain: Chain,
  { signal, now }: Pick<ChoreRun, 'signal' | 'now'>,
): Promise<string | undefined> {
  const parts = { store, chain, signal }
  const linked = await repeat(parts, ends => linkSome(parts, ends))
  const before = now() - settings.history.keep
  const dropped = await repeat(parts, ends => dropSome(parts, ends, before))
  const done = [
    linked > 0 && `put ${count(linked, 'line')} into the chain`,
    dropped > 0 && `removed ${count(dropped, 'old line')}`,
  ]
  return done.filter(Boolean).join(', ') || undefined
}

/** Says that the chain is to be trusted as it is from now on, with the current key. */
export async function proveChain(store: Store): Promise<void> {
  const { keyring } = store.sealing ?? {}
  if (store.chain === undefined || keyring === undefined) return
  for (;;) {
    const ends = await readEnds(store)
    if (ends.version === 0 || (ends.proof === 'proven' && ends.key === keyring.current)) return
    try {
      await store.writeNotes([proveEnds(keyring, ends)])
    } catch (error) {
      if (!(error instanceof NoteConflictError)) throw error
    }
  }
}

interface Parts {
  readonly store: Store
  readonly chain: Chain
  readonly signal: AbortSignal
}

/** Until nothing is left to do. Whoever is overtaken by another replica looks again. */
async function repeat({ store, chain, signal }: Parts, doSome: (ends: ReadEnds) => Promise<number>): Promise<number> {
  let done = 0
  for (;;) {
    signal.throwIfAborted()
    const ends = await readTrusted(store, chain)
    try {
      const some = await doSome(ends)
      done += some
      if (some < batchSize) return done
    } catch (error) {
      if (!(error instanceof NoteConflictError)) throw error
    }
  }
}

/** Goes on with no chain that somebody else has written: it would look right from then on. */
async function readTrusted(store: Store, chain: Chain): Promise<ReadEnds> {
  let ends = await readEnds(store)
  if (ends.version === 0 && (await chain.linked(0, 1)).length > 0) {
    // Another replica may have begun the chain in between, and the note came with its first lines.
    ends = await readEnds(store)
    if (ends.version === 0)
      throw new Error(
        'the note that says where the chain of the history ends is gone: put back a backup, "purser history verify" says more',
      )
  }
  const { proof, key } = ends
  if (proof === 'wrong')
    throw new Error(
      `the end of the chain of the history was written by somebody who does not have the key "${key}": see "purser history verify"`,
    )
  if (proof === 'missing-key')
    throw new Error(
      `the key "${key}", which proves the chain of the history, is not configured: add it to encryption.keys, or run "purser keys rotate" to trust the chain as it is`,
    )
  return ends
}

async function linkSome({ store, chain }: Parts, ends: ReadEnds): Promise<number> {
  const lines = await chain.unlinked(batchSize)
  if (lines.length === 0) return 0
  let head: Link = ends.head
  const links = lines.map(({ key, event }) => {
    head = nextLink(head, event)
    return { key, ...head }
  })
  await chain.link(links, writeEnds(store.sealing?.keyring, ends, { anchor: ends.anchor, head }))
  return lines.length
}

/** Only from the beginning on, and only what is as it was: nobody's traces are removed. */
async function dropSome({ store, chain }: Parts, ends: ReadEnds, before: number): Promise<number> {
  let anchor: Link = ends.anchor
  let dropped = 0
  for (const { no, hash, event } of await chain.linked(anchor.no, batchSize)) {
    if (event !== undefined && event.at >= before) break
    const fault = findFault(anchor, { no, hash, entry: event && toEntry(no, event) })
    if (fault !== undefined)
      throw new Error(`old lines of the history are kept, since ${fault.message}: see "purser history verify"`)
    anchor = { no, hash }
    dropped += 1
  }
  if (dropped === 0) return 0
  const shorter: ChainEnds = { anchor, head: ends.head }
  await chain.drop(anchor.no, writeEnds(store.sealing?.keyring, ends, shorter))
  return dropped
}
