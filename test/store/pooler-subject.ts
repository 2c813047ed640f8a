/** What the tests of the PostgreSQL store behind PgBouncer share. */
import { afterAll, beforeAll, describe, it } from 'vitest'
import { type PgBouncer, startPgBouncer, whyNoPgBouncer } from '../external/pgbouncer.ts'
import { type PostgresServer, startPostgres } from '../external/postgres.ts'
import { connect } from '../external/postgres-connection.ts'
import { patient } from './postgres-subject.ts'

export interface Pooled {
  readonly server: PostgresServer
  readonly pooler: PgBouncer
}

export const transactionMode = { pool_mode: 'transaction', ignore_startup_parameters: 'options' }

const reason = await whyNoPgBouncer()

/** Runs the tests with a server and a pooler of their own. The user `bare` has no settings. */
export function describePooled(title: string, tests: (place: () => Pooled) => void): void {
  describe(title, () => {
    if (reason !== undefined) {
      it.skip(`no PgBouncer: ${reason}`)
      return
    }
    let server: PostgresServer | undefined
    let pooler: PgBouncer | undefined
    beforeAll(async () => {
      server = await startPostgres()
      const admin = await connect(server.url)
      await admin.query({ text: 'create role bare superuser login' })
      for (const setting of given) await admin.query({ text: `alter role postgres set ${setting}` })
      await admin.end()
      pooler = await startPgBouncer(server.url, transactionMode)
    })
    afterAll(async () => {
      await pooler?.stop()
      await server?.stop()
    })
    tests(() => {
      if (server === undefined || pooler === undefined) throw new Error('the server was not started')
      return { server, pooler }
    })
  })
}

/** As the store asks for it. */
const given = [
  "default_transaction_isolation = 'read committed'",
  'enable_seqscan = off',
  'enable_bitmapscan = off',
  'enable_hashjoin = off',
  'enable_mergejoin = off',
  'plan_cache_mode = force_generic_plan',
  'jit = off',
  `statement_timeout = ${patient.statementTimeout}`,
]
