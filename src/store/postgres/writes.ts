import type { Lease } from '../../store.ts'
import { keyOf } from '../keys.ts'
import type { Database } from './database.ts'
import type { SqlRow } from './driver.ts'
import { createGatherer } from './gather.ts'
import type { Statements } from './statements.ts'

/** A decision on its way, as write() takes it. */
export interface Write {
  readonly instance: string
  readonly binding: string | null
  readonly predecessor: string | null
  /** What it was decided from; none for a new instance, which was decided at `now` without looking. */
  readonly version: string | null
  readonly now: number | null
  /** The change, as JSON. */
  readonly change: string
}

/** Writes it if it still holds. Answers the row of write(): whether it was written, else what there is now. */
export type Writer = (write: Write) => Promise<SqlRow | undefined>

/** Decisions about different instances go together, as checkpoints do: one round trip and one sync for all of them. */
export function createWriter({ run }: Database, statements: Statements): Writer {
  async function writeAlone({ instance, binding, predecessor, version, change, now }: Write) {
    const [row] = await run(statements.write, [instance, binding, predecessor, version, change, now])
    return row ?? {}
  }

  return createGatherer<Write, SqlRow>({
    alone: writeAlone,
    async send(writes) {
      const [only] = writes
      if (only !== undefined && writes.length === 1 && only.version === null) return [undefined]
      const rows = await run(statements.writes, [toRows(writes)])
      const answers = new Map(rows.map(row => [row.place, row]))
      // One whose rows are locked is not written: alone it waits for them, and keeps nobody else.
      return writes.map((_, place) => answers.get(place))
    },
  })
}

/** What the end of an operation is decided from; null where the lease is lost. */
export type HeldReader = (lease: Lease) => Promise<SqlRow | null>

/** Operations that end at the same time are looked at together. */
export function createHeldReader({ run }: Database, statements: Statements): HeldReader {
  return createGatherer<Lease, SqlRow | null>({
    async send(leases) {
      const ids = leases.map(({ operationId }) => keyOf(operationId))
      const rows = await run(statements.lookHeld, [ids, leases.map(({ fence }) => fence)])
      const answers = new Map(rows.map(row => [row.fence, row]))
      return leases.map(({ fence }) => answers.get(fence) ?? null)
    },
  })
}

/** The changes are JSON already. */
function toRows(writes: readonly Write[]): string {
  const rows = writes.map(({ change, ...keys }, place) => {
    const head = JSON.stringify({ place, ...keys })
    return `${head.slice(0, -1)},"change":${change}}`
  })
  return `[${rows.join(',')}]`
}
