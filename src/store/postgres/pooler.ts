import { StoreOpenError } from '../../store.ts'
import { type Connection, type Session, settingsOf } from './driver.ts'

/**
 * Whether a pooler stands in between, such as PgBouncer: then the process that answers is not the one that the connection
 * was told of. The next transaction may run on another connection of the server. So nothing can be kept in a session: no
 * prepared statements, no LISTEN, and no settings. Throws where ours have not been given to the user instead.
 */
export async function findPooler(connection: Connection, session: Session): Promise<boolean> {
  const wanted = { ...settingsOf(session), synchronous_commit: 'on' }
  const { rows } = await connection.query({
    text: `select pg_backend_pid() as process, quote_ident(current_user) as user, s.name, s.setting
      from pg_settings s where s.name = any ($1)`,
    values: [Object.keys(wanted)],
    query_timeout: session.statementTimeoutMs,
  })
  if (rows[0]?.process === connection.processID) return false
  const found = new Map(rows.map(({ name, setting }) => [name, setting]))
  const missing = Object.entries(wanted).filter(([name, value]) =>
    // The stricter ways to wait for a commit are as good.
    name === 'synchronous_commit' ? found.get(name) === 'off' : found.get(name) !== value,
  )
  if (missing.length === 0) return true
  const commands = missing.map(([name, value]) => `alter role ${rows[0]?.user} set ${name} = '${value}';`)
  throw new StoreOpenError(
    'unsuitable-server',
    'the PostgreSQL database cannot be used: a pooler in between does not pass on the settings of a connection. ' +
      `Give them to the user, and let the pooler connect anew: ${commands.join(' ')}`,
  )
}
