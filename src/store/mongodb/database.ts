import type { AggregateOptions, ClientSession, Document, ObjectId } from 'mongodb'
import type { Sealer } from '../sealing.ts'
import type { Collections } from './documents.ts'
import type { Transactions } from './transactions.ts'
import type { Turns } from './turns.ts'

/** What the parts of the store work with. */
export interface Database {
  readonly collections: Collections
  readonly sealer: Sealer
  readonly transactions: Transactions
  readonly turns: Turns
  /** Reads in it see what a majority had when the first of them began. */
  readonly snapshotSession: () => ClientSession
  readonly now: Now
  /** Rises within this process, and roughly over all replicas. */
  readonly nextSeq: () => ObjectId
  /** Tells the writes of this store from those of other replicas. */
  readonly storeId: string
  readonly timeoutMs: number
}

/** The ledger in one transaction. */
export interface Transaction extends Database {
  readonly session: ClientSession
}

/** Runs the body in a transaction of its own, and perhaps again: see Transactions. */
export function transact<Result>(ledger: Database, body: (tx: Transaction) => Promise<Result>): Promise<Result> {
  return ledger.transactions.run(session => body({ ...ledger, session }))
}

/** The ledger's time, as an expression that the server works out in the statement that it stands in. */
export type Now = () => object

/** The primary's clock, in milliseconds. */
export const serverNow: Now = () => ({ $toLong: '$$NOW' })

/**
 * The time and what the lookups find, in one round trip. It begins at the one document that is always there, so there is an
 * answer where the lookups find nothing.
 */
export async function readWithTime<Found>(
  { collections, now }: Database,
  lookups: readonly Document[],
  options?: AggregateOptions,
): Promise<Found & { readonly now: number }> {
  const [found] = await collections.meta
    .aggregate<Found & { now: number }>(
      [{ $match: { _id: 'ledger' } }, { $project: { _id: 0, now: now() } }, ...lookups],
      options,
    )
    .toArray()
  if (found === undefined) throw lostMeta()
  return found
}

export function lookup(as: string, from: { readonly collectionName: string }, ...pipeline: Document[]): Document {
  return { $lookup: { from: from.collectionName, pipeline, as } }
}

export function lostMeta(): Error {
  return new Error('the ledger has lost its meta document: put back a backup')
}
