import type { Clock } from '../../clock.ts'
import { pauseAfter } from '../../domain/retry.ts'
import type { WakeUp } from '../../store.ts'
import type { Connection } from './driver.ts'

export interface ListenerParts {
  readonly connect: () => Connection
  /** SQL that notes the server: to say hello is a transaction, and nobody may write on a server before that (server-schema.ts). */
  readonly note: string
  readonly channel: string
  readonly clock: Clock
  readonly onWakeUp: (wakeUp: WakeUp) => void
  readonly onTrouble: (error: Error) => void
}

export type Listener = Awaited<ReturnType<typeof startListener>>

/**
 * Hears the other replicas' wake-ups and tells them ours, on one connection of its own that it opens again for as long as
 * it takes. Everything here is a hint: what is lost while there is no connection, others find by looking.
 *
 * Nobody is told as long as nobody else was heard: who begins to listen says hello, and is answered.
 *
 * Ours are sent after the commit that they tell of, many at once, and not inside it: a transaction that has notified holds
 * a lock on the whole server until its commit is on the disk, so that no two of them could commit together.
 */
export async function startListener({ connect, note, channel, clock, onWakeUp, onTrouble }: ListenerParts) {
  const waiting = new Set<string>()
  let connection: Connection | undefined
  let hasOthers = false
  let resting = false
  let failures = 0
  let closed = false
  let cancelRest = () => {}
  let cancelRetry = () => {}

  async function listen(): Promise<void> {
    const candidate = connect()
    let over = false
    const lose = (error: Error) => {
      if (over) return
      over = true
      connection = undefined
      waiting.clear()
      candidate.end().catch(() => {})
      if (closed) return
      failures += 1
      if (failures === 1) onTrouble(error)
      cancelRetry = clock.after(pauseAfter(failures, reconnecting), () => void listen())
    }
    candidate.on('error', lose)
    candidate.on('end', () => lose(new Error('the connection was ended')))
    candidate.on('notification', ({ processId, payload = '' }) => {
      if (processId === candidate.processID) return
      hasOthers = true
      if (payload === hello) {
        waiting.add(here)
        flush()
      }
      const wakeUp = fromPayload(payload)
      if (wakeUp !== undefined) onWakeUp(wakeUp)
    })
    try {
      await candidate.connect()
      await candidate.query({ text: `${note}; listen "${channel}"; notify "${channel}", '${hello}'` })
    } catch (error) {
      lose(error instanceof Error ? error : new Error(String(error)))
      return
    }
    if (over) return
    if (closed) return void candidate.end().catch(() => {})
    connection = candidate
    // Work, or a new catalog, may have come while nobody listened.
    if (failures > 0) for (const type of ['work', 'catalog'] as const) onWakeUp({ type })
    failures = 0
  }

  function flush(): void {
    if (connection === undefined || resting || waiting.size === 0) return
    resting = true
    const values = [channel, [...waiting]]
    waiting.clear()
    const rest = () => {
      cancelRest = clock.after(restMs, () => {
        resting = false
        flush()
      })
    }
    const text = 'select pg_notify($1, payload) from unnest($2::text[]) payload'
    connection.query({ text, values }).then(rest, rest)
  }

  await listen()
  return {
    /** Tells the other replicas, soon. */
    tell(wakeUps: readonly WakeUp[]) {
      if (connection === undefined || !hasOthers) return
      for (const wakeUp of wakeUps) if (waiting.size < mostWaiting) waiting.add(toPayload(wakeUp))
      waiting.delete(unsayable)
      flush()
    },
    async close() {
      closed = true
      cancelRest()
      cancelRetry()
      const last = connection
      connection = undefined
      if (last === undefined) return
      // A server that has vanished answers no good-bye.
      const cancel = clock.after(patienceMs, () => last.connection.stream.destroy())
      await last.end().catch(() => {})
      cancel()
    },
  }
}

const reconnecting = { initial: 100, max: 10_000 }
/** Between two messages: under load, one tells of many. */
const restMs = 20
const mostWaiting = 1_000
const patienceMs = 1_000
/** PostgreSQL takes less than 8,000 bytes; our ids are far shorter. */
const longestPayload = 2_000
const unsayable = ''
const hello = 'hello'
const here = 'here'
const finished = 'finished '

function toPayload(wakeUp: WakeUp): string {
  if (wakeUp.type !== 'finished') return wakeUp.type
  const payload = `${finished}${wakeUp.operationId}`
  return payload.length > longestPayload || payload.includes('\u0000') ? unsayable : payload
}

function fromPayload(payload: string): WakeUp | undefined {
  if (payload === 'work' || payload === 'catalog') return { type: payload }
  return payload.startsWith(finished) ? { type: 'finished', operationId: payload.slice(finished.length) } : undefined
}
