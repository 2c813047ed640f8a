import { StoreUnavailableError } from '../../store.ts'
import type { Pool, SqlRow, SqlValue } from './driver.ts'
import { isUsableAfter, toStoreError } from './failures.ts'
import type { Statement } from './statements.ts'

/** The pool as the store uses it: single statements, each a transaction of its own. */
export interface Database {
  run(statement: Statement, values: readonly SqlValue[]): Promise<readonly SqlRow[]>
  /**
   * Runs the whole of a method of the store, and refuses it after `close`. What was begun before is done first: a pool that
   * is being ended forgets those who wait for a connection.
   */
  during<Result>(method: () => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

export function createDatabase(pool: Pool, name: string): Database {
  const running = new Set<Promise<unknown>>()
  let closed: Promise<void> | undefined
  // A connection that breaks while nobody uses it is taken out of the pool; one that breaks in use also fails its statement.
  // Nobody needs to hear of it a second time, but an event without a listener would end the process.
  pool.on('error', () => {})
  pool.on('connect', connection => connection.on('error', () => {}))

  return {
    async run(statement, values) {
      const connection = await pool.connect().catch(error => {
        throw toStoreError(error, name)
      })
      let usable = true
      try {
        return (await connection.query({ ...statement, values })).rows
      } catch (error) {
        // The statement may have been done or not where no answer came: it is never repeated here.
        usable = isUsableAfter(error)
        throw toStoreError(error, name)
      } finally {
        connection.release(!usable)
      }
    },
    during(method) {
      if (closed !== undefined) return Promise.reject(new StoreUnavailableError(`${name} is closed`))
      const result = method()
      const ended = result.then(
        () => {},
        () => {},
      )
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
