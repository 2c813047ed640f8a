/** One file, one process, every answer synced to the disk: the store to start with, and for most brokers the one to keep. */
export { openSqliteStore, type SqliteStoreOptions } from './open.ts'
