/** One file, one process, every answer synced to the disk: the store to start with, and for most brokers the one to keep. */

export { createKeyring, type LabelledKey } from '../keyring.ts'
export { openSqliteStore, type SqliteStoreOptions } from './open.ts'
