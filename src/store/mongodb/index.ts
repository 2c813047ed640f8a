/** A replica set of MongoDB: many replicas of the broker on one ledger. */
export { type MongoStoreOptions, openMongoStore } from './open.ts'
