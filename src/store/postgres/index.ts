/** Many replicas on one PostgreSQL: leases by SKIP LOCKED, times by the database's clock, wake-ups by LISTEN and NOTIFY. */

export { createKeyring, type LabelledKey } from '../keyring.ts'
export type { LedgerOptions } from '../options.ts'
export {
  applyMigrations,
  type MigrationTarget,
  migrationScript,
  openPostgresStore,
  type PostgresStoreOptions,
  pendingMigrations,
} from './open.ts'
