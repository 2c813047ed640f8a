/** A primary with a standby that can take its place, as a tool for failovers runs them. */
import type { Connection } from '../../src/store/postgres/driver.ts'
import { type PostgresServer, startPostgres } from './postgres.ts'
import { connect } from './postgres-connection.ts'

export interface PostgresPair {
  readonly primary: PostgresServer
  readonly standby: PostgresServer
  /** Both, as libpq writes it; the standby first. */
  readonly url: string
  /** From now on the standby falls behind. What the primary has written until now, it has. */
  detach(): Promise<void>
  /** The standby becomes a primary. It does not ask whether there is another one. */
  promote(): Promise<void>
  stop(): Promise<void>
}

/** `synchronous`: an answer of the primary waits until the standby has what it is about. */
export async function startPair({ synchronous }: { readonly synchronous: boolean }): Promise<PostgresPair> {
  const primary = await startPostgres({ settings: { synchronous_standby_names: synchronous ? '*' : '' } })
  await primary.down('fast')
  // Alone, once it is a primary: nobody else has to confirm anything.
  const settings = { synchronous_standby_names: '', wal_retrieve_retry_interval: '100ms' }
  const standby = await startPostgres({ standbyOf: primary, settings })
  await primary.up()
  const { host } = new URL(standby.url)
  return {
    primary,
    standby,
    url: primary.url.replace('@', `@${host},`),
    async detach() {
      const [here, there] = [await connect(primary.url), await connect(standby.url)]
      try {
        await until(
          here,
          'select count(*) = 1 as done from pg_stat_replication where replay_lsn >= pg_current_wal_lsn()',
        )
        await there.query({ text: "alter system set primary_conninfo = ''" })
        await there.query({ text: 'select pg_reload_conf()' })
        await until(there, 'select count(*) = 0 as done from pg_stat_wal_receiver')
      } finally {
        await Promise.all([here.end(), there.end()])
      }
    },
    promote: () => ask(standby.url, 'select pg_promote(true, 600)'),
    async stop() {
      await Promise.all([primary.stop(), standby.stop()])
    },
  }
}

async function until(connection: Connection, text: string): Promise<void> {
  for (;;) {
    const { rows } = await connection.query({ text })
    if (rows[0]?.done === true) return
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}

async function ask(url: string, text: string): Promise<void> {
  const connection = await connect(url)
  await connection.query({ text }).finally(() => connection.end())
}
