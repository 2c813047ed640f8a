import { text } from '../columns.ts'
import type { Calls } from './database.ts'
import type { SqlRow } from './driver.ts'
import { createGatherer } from './gather.ts'
import { createLanes } from './lanes.ts'
import type { ServerClock } from './server-clock.ts'

/** A call for one operation or instance that may go with others. */
export interface GatheredCall {
  readonly part: 'checkpoint' | 'write' | 'look'
  /** Its answer has the same. */
  readonly key: number
  /** As JSON. */
  readonly row: string
  /** One that is better sent alone, as long as no other comes with it. */
  readonly prefersAlone?: boolean
  /** Null where the lease is lost. */
  alone(): Promise<SqlRow | null>
}

export type Gather = ReturnType<typeof createGathered>

/** Sends the calls of different operations in one statement, whatever they are: one round trip and one sync for all. */
export function createGathered({ run, statements }: Calls, clock: ServerClock) {
  const lanes = createLanes()
  return createGatherer<GatheredCall, SqlRow | null>({
    lanes: lanes.count,
    alone: call => call.alone(),
    async send(calls) {
      if (calls.length === 1 && calls[0]?.prefersAlone === true) return [undefined]
      const rowsOf = (part: GatheredCall['part']) => {
        const rows = calls.filter(call => call.part === part).map(({ row }) => row)
        return rows.length === 0 ? null : `[${rows.join(',')}]`
      }
      const sentAt = clock.local()
      const rows = await run(statements.gathered, [rowsOf('checkpoint'), rowsOf('write'), rowsOf('look')])
      const last = rows.at(-1)
      if (typeof last?.now === 'number') clock.learn(last.now)
      lanes.learn({ ms: clock.local() - sentAt, workMs: Number(last?.work_ms ?? 0) })
      const answers = new Map(rows.flatMap(answersIn))
      // None for a row that somebody else has locked, or whose lease is lost. Tried alone, it finds out which.
      return calls.map(({ part, key }) => answers.get(`${part} ${key}`))
    },
  })
}

/** By part and key. */
function answersIn(row: SqlRow): [string, SqlRow][] {
  const { part, outcome, transaction, now } = row
  const told = () => text(row.version).split(' ')
  if (part === 'checkpoints') return told().map(fence => [`checkpoint ${fence}`, row])
  if (part !== 'writes') return [[`${part} ${row.key}`, row]]
  return told().map(written => {
    const [place, version = null] = written.split(':')
    return [`write ${place}`, { outcome, version, transaction, now }]
  })
}
