import { loadLibrary, type Pool, type PooledConnection, types } from '../src/store/postgres/driver.ts'
import { newOperationRows } from './rows.ts'

/** Transactions per second, by as many callers at a time. */
export interface BareTransactions {
  /** As an application writes it: BEGIN, one prepared INSERT for each row, COMMIT. Four round trips, one sync. */
  run(ms: number): Promise<number>
  /** The same rows by one statement that is a transaction of its own. One round trip, one sync. */
  runAsOneStatement(ms: number): Promise<number>
  close(): Promise<void>
}

/** The baseline: the two rows of an accepted provision in tables with nothing but a primary key, as durable as ours. */
export async function createBareTransactions(
  url: string,
  connections: number,
  callers: number,
): Promise<BareTransactions> {
  const { Pool } = await loadLibrary()
  const pool = new Pool({
    connectionString: url,
    application_name: 'bare',
    options: '',
    connectionTimeoutMillis: 60_000,
    keepAlive: true,
    types,
    max: connections,
    idleTimeoutMillis: 60_000,
    query_timeout: 60_000,
  })
  const { instance, operation } = newOperationRows('id')
  const [resourceDoc, workDoc] = [JSON.stringify(instance), JSON.stringify(operation)]
  const run = `${process.pid}-${Date.now()}`
  let n = 0
  await withConnection(pool, connection =>
    connection.query({
      text: `create schema if not exists bare;
        create table if not exists bare.resource (id text collate "C" primary key, doc text not null);
        create table if not exists bare.work (id text collate "C" primary key, doc text not null)`,
    }),
  )

  const inTransaction = async (connection: PooledConnection) => {
    const id = `${run}-${n++}`
    await connection.query({ text: 'begin' })
    await connection.query({
      name: 'resource',
      text: 'insert into bare.resource values ($1, $2)',
      values: [id, resourceDoc],
    })
    await connection.query({ name: 'work', text: 'insert into bare.work values ($1, $2)', values: [id, workDoc] })
    await connection.query({ text: 'commit' })
  }
  const inOneStatement = async (connection: PooledConnection) => {
    const text = `with resource as (insert into bare.resource values ($1, $2))
      insert into bare.work values ($1, $3)`
    await connection.query({ name: 'both', text, values: [`${run}-${n++}`, resourceDoc, workDoc] })
  }

  const measure = async (ms: number, transaction: (connection: PooledConnection) => Promise<void>) => {
    const started = performance.now()
    let done = 0
    await Promise.all(
      Array.from({ length: callers }, async () => {
        while (performance.now() - started < ms) {
          await withConnection(pool, transaction)
          done++
        }
      }),
    )
    return (done * 1000) / (performance.now() - started)
  }

  return {
    run: ms => measure(ms, inTransaction),
    runAsOneStatement: ms => measure(ms, inOneStatement),
    close: () => pool.end(),
  }
}

async function withConnection(pool: Pool, work: (connection: PooledConnection) => Promise<unknown>): Promise<void> {
  const connection = await pool.connect()
  try {
    await work(connection)
  } finally {
    connection.release(false)
  }
}
