import type { Address, Connection, Library, PooledConnection } from './driver.ts'
import { ReadOnlyServerError } from './failures.ts'

export type Servers = ReturnType<typeof createServers>

/**
 * The servers that a URL names, of which one at a time is the primary. All connections are made to the one that was the
 * primary last; whoever finds that it is not there, or cannot be written, moves all of them on to the next.
 */
export function createServers(library: Library, { urls }: Pick<Address, 'urls'>) {
  const urlOf = new WeakMap<object, string>()
  let current = urls[0]

  function leave(url: string | undefined): void {
    // Where others have left it before, the current one has not been tried yet.
    if (url === current) current = urls[(urls.indexOf(url) + 1) % urls.length] ?? url
  }

  /** The driver's client, for the server that is current when it is made. */
  class Client extends library.Client {
    constructor(config: ConstructorParameters<Library['Client']>[0]) {
      super({ ...config, connectionString: current })
      urlOf.set(this, current)
    }

    /** The pool wants to be called back. */
    override async connect(done?: (error?: unknown) => void): Promise<void> {
      try {
        await super.connect()
      } catch (error) {
        leave(urlOf.get(this))
        if (done === undefined) throw error
        return done(error)
      }
      done?.()
    }
  }

  return {
    count: urls.length,
    current: () => current,
    Client,
    /** Before a connection is used: throws where its server cannot be written, or does not know the answer in time. */
    async greet(connection: Connection | PooledConnection, patienceMs: number): Promise<void> {
      const { rows } = await connection.query({ text: greeting, query_timeout: patienceMs })
      if (rows[0]?.read_only === false) return
      const url = urlOf.get(connection) ?? current
      leave(url)
      throw new ReadOnlyServerError(`${new URL(url).host} is a standby, and read-only`)
    },
  }
}

/** An answer that was given must outlive a power cut, even on a server whose default is otherwise. */
const greeting = `select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as read_only,
  case current_setting('synchronous_commit') when 'off' then set_config('synchronous_commit', 'on', false) end`
