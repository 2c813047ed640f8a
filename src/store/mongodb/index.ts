/** A replica set of MongoDB: many replicas of the broker on one ledger. */
export { MongoOpenError, type MongoOpenFailure } from './errors.ts'
export { type MongoStoreOptions, openMongoStore } from './open.ts'
