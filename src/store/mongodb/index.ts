/** A replica set of MongoDB: many replicas of the broker on one ledger. */

export { createKeyring, type LabelledKey } from '../keyring.ts'
export type { LedgerOptions } from '../options.ts'
export { type MongoStoreOptions, openMongoStore, prepareMongoStore } from './open.ts'
