/** A primary with a standby that can take its place, as a tool for failovers runs them. */
import { type PostgresServer, startPostgres } from './postgres.ts'
import { connect } from './postgres-connection.ts'

export interface PostgresPair {
  readonly primary: PostgresServer
  readonly standby: PostgresServer
  /** Both, as libpq writes it; the standby first. */
  readonly url: string
  /** The standby becomes a primary. It does not ask whether there is another one. */
  promote(): Promise<void>
  stop(): Promise<void>
}

/** `synchronous`: an answer of the primary waits until the standby has what it is about. */
export async function startPair({ synchronous }: { readonly synchronous: boolean }): Promise<PostgresPair> {
  const primary = await startPostgres({ settings: { synchronous_standby_names: synchronous ? '*' : '' } })
  await primary.down('fast')
  // Alone, once it is a primary: nobody else has to confirm anything.
  const standby = await startPostgres({ standbyOf: primary, settings: { synchronous_standby_names: '' } })
  await primary.up()
  const { host } = new URL(standby.url)
  return {
    primary,
    standby,
    url: primary.url.replace('@', `@${host},`),
    promote: () => ask(standby.url, 'select pg_promote(true, 600)'),
    async stop() {
      await Promise.all([primary.stop(), standby.stop()])
    },
  }
}

async function ask(url: string, text: string): Promise<void> {
  const connection = await connect(url)
  await connection.query({ text }).finally(() => connection.end())
}
