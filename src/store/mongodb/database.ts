import type { ObjectId } from 'mongodb'
import type { Collections } from './collections.ts'
import type { Now } from './now.ts'
import type { Transactions } from './transactions.ts'
import type { Turns } from './turns.ts'

/** What the parts of the store work with. */
export interface Database {
  readonly collections: Collections
  readonly transactions: Transactions
  readonly turns: Turns
  readonly now: Now
  /** Rises within this process, and about so over all of them. */
  readonly nextSeq: () => ObjectId
  /** Tells the writes of this store from those of other replicas. */
  readonly storeId: string
  readonly timeoutMs: number
}
