/** A replica set of MongoDB: many replicas of the broker on one ledger. */
export type { LedgerOptions } from '../options.ts'
export { type MongoStoreOptions, openMongoStore, prepareMongoStore } from './open.ts'
