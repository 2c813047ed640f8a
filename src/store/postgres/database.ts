import { StoreUnavailableError } from '../../store.ts'
import type { Sealer } from '../sealing.ts'
import type { Pool, PooledConnection, SqlRow, SqlValue } from './driver.ts'
import { isUsableAfter, TakenBackError, toStoreError } from './failures.ts'
import type { Servers } from './servers.ts'
import type { Statement, Statements } from './statements.ts'
import type { Witness } from './witness.ts'

export type Run = (statement: Statement, values: readonly SqlValue[]) => Promise<readonly SqlRow[]>

/** What the methods of the store that are one statement work with. */
export interface Calls {
  readonly run: Run
  readonly statements: Statements
  readonly sealer: Sealer
}

export type Database = ReturnType<typeof createDatabase>

/** What is done on one connection is done with this. */
interface On {
  readonly run: Run
  isUsable(): boolean
  readonly connection: PooledConnection
}

export interface DatabaseParts {
  readonly pool: Pool
  readonly servers: Pick<Servers, 'count' | 'current'>
  readonly witness: Pick<Witness, 'losses' | 'learn'>
  readonly name: string
}

/** The pool as the store uses it: mostly single statements, each a transaction of its own. */
export function createDatabase({ pool, servers, witness, name }: DatabaseParts) {
  const running = new Set<Promise<unknown>>()
  const generationOf = new WeakMap<PooledConnection, number>()
  let generation = 0
  let closed: Promise<void> | undefined
  // A connection that breaks while nobody uses it is taken out of the pool; one that breaks in use also fails its statement.
  // Nobody needs to hear of it a second time, but an event without a listener would end the process.
  pool.on('error', () => {})
  pool.on('connect', connection => {
    generationOf.set(connection, generation)
    connection.on('error', () => {})
  })

  /** Where a server fails, the others are tried, each once. The pool may also have no connection free in time. */
  async function checkOut(): Promise<PooledConnection> {
    let failures = 0
    for (;;) {
      const tried = servers.current()
      try {
        const connection = await pool.connect()
        if (generationOf.get(connection) === generation) return connection
        connection.release(true)
      } catch (error) {
        failures += 1
        if (failures === servers.count || servers.current() === tried) throw toStoreError(error, name)
      }
    }
  }

  /** What one connection has found out about its server, the others need not: each would wait as long for an answer. */
  function giveUp(connection: PooledConnection): void {
    if (generationOf.get(connection) === generation) generation += 1
  }

  /** What is done on one connection, which then goes back to the pool, or out of it where it cannot be used again. */
  async function connected<Result>(body: (on: On) => Promise<Result>): Promise<Result> {
    const losses = witness.losses()
    const connection = await checkOut()
    let usable = true
    try {
      if (witness.losses() !== losses) throw new StoreUnavailableError(`${name} went back in time: try again`)
      const run: Run = async (statement, values) => {
        try {
          return (await connection.query({ ...statement, values })).rows
        } catch (error) {
          // The statement may have been done or not where no answer came: it is never repeated here.
          usable = isUsableAfter(error)
          if (!usable) giveUp(connection)
          throw toStoreError(error, name)
        }
      }
      return await body({ run, isUsable: () => usable, connection })
    } finally {
      connection.release(!usable)
    }
  }

  const runAlone: Run = (statement, values) =>
    repeated(() =>
      connected(async ({ run, connection }) => {
        const rows = await run(statement, values)
        witness.learn(connection, rows[0]?.transaction)
        return rows
      }),
    )

  return {
    run: runAlone,
    /** Several statements in one transaction, for what has no place in a single one. A throw takes all of it back; it may run again. */
    transaction: <Result>(body: (run: Run) => Promise<Result>) =>
      repeated(() =>
        connected(async ({ run, isUsable }) => {
          await run(begin, [])
          try {
            const result = await body(run)
            await run(commit, [])
            return result
          } catch (error) {
            // Where the connection is lost, so is the transaction.
            if (isUsable()) await run(rollback, []).catch(() => {})
            throw error
          }
        }),
      ),
    /**
     * Runs the whole of a method of the store, and refuses it after `close`. What was begun before is done first: a pool that
     * is being ended forgets those who wait for a connection.
     */
    during<Result>(method: () => Promise<Result>): Promise<Result> {
      if (closed !== undefined) return Promise.reject(new StoreUnavailableError(`${name} is closed`))
      const result = method()
      const ended = result.catch(() => {})
      running.add(ended)
      void ended.then(() => running.delete(ended))
      return result
    },
    close() {
      closed ??= Promise.all(running).then(() => pool.end())
      return closed
    },
  }
}

const begin: Statement = { text: 'begin' }
const commit: Statement = { text: 'commit' }
const rollback: Statement = { text: 'rollback' }

/** A deadlock is nobody's mistake, and the server has ended it: whoever it chose asks again, and nobody needs to hear of it. */
async function repeated<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let left = 5; ; left -= 1) {
    try {
      return await attempt()
    } catch (error) {
      if (left === 0 || !(error instanceof TakenBackError)) throw error
    }
  }
}
