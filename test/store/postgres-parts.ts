/** A PostgreSQL store put together by hand, so that a test can stand between it and its statements. */
import { onTestFinished } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { createDatabase, type Run } from '../../src/store/postgres/database.ts'
import { connectionConfig, loadLibrary, parseAddress } from '../../src/store/postgres/driver.ts'
import { createServerClock } from '../../src/store/postgres/server-clock.ts'
import { createServers } from '../../src/store/postgres/servers.ts'
import { createStatements } from '../../src/store/postgres/statements.ts'
import { createPostgresStore } from '../../src/store/postgres/store.ts'
import { createWitness } from '../../src/store/postgres/witness.ts'
import { createWakeUps } from '../../src/store/wake-ups.ts'
import type { Store } from '../../src/store.ts'
import { patient } from './postgres-subject.ts'

export interface PartsOptions {
  readonly url: string
  /** It is there already. */
  readonly schema: string
  readonly statementTimeoutMs?: number
  readonly between: (run: Run) => Run
}

/** Closed when the test ends. */
export async function openParts(options: PartsOptions): Promise<Store> {
  const { url, schema, between, statementTimeoutMs = patient.statementTimeout } = options
  const quoted = `"${schema}"`
  const library = await loadLibrary()
  const address = parseAddress(url)
  const config = connectionConfig(address, { connectTimeoutMs: patient.connectTimeout, statementTimeoutMs })
  const witness = createWitness({ schema: quoted, patienceMs: statementTimeoutMs, onLoss: () => {} })
  const pool = new library.Pool({ ...config, max: 5, idleTimeoutMillis: 60_000, query_timeout: 120_000 })
  const database = createDatabase({ pool, servers: createServers(library, address), witness, name: 'by hand' })
  const store = createPostgresStore({
    name: 'by hand',
    schema: quoted,
    database: { ...database, run: between(database.run) },
    statements: createStatements(quoted, true),
    clock: createServerClock(systemClock),
    witness,
    wakeUps: createWakeUps(),
  })
  onTestFinished(() => store.close())
  return store
}
