import type { ChangeStream, Collection, Document, ObjectId } from 'mongodb'
import { type Clock, sleep } from '../../clock.ts'
import { pauseAfter } from '../../domain/retry.ts'
import type { WakeUp } from '../../store.ts'

/**
 * What a write tells the other replicas, as one text on the document: a change stream shows what has changed, so each
 * note is unlike the one before it.
 */
export function wakeNote(storeId: string, seq: ObjectId, wakeUp: WakeUp): string {
  return JSON.stringify([storeId, seq.toHexString(), wakeUp])
}

/** Undefined for a note that a newer release wrote in another way: then there is nothing to hear. */
function readWakeNote(note: unknown): WakeUp | undefined {
  if (typeof note !== 'string') return undefined
  const parsed: unknown = JSON.parse(note)
  const wakeUp = Array.isArray(parsed) ? (parsed[2] as Partial<Record<string, unknown>> | undefined) : undefined
  if (wakeUp?.type === 'work' || wakeUp?.type === 'catalog') return { type: wakeUp.type }
  if (wakeUp?.type !== 'finished' || typeof wakeUp.operationId !== 'string') return undefined
  return { type: 'finished', operationId: wakeUp.operationId }
}

/** A document that says what others are to be told of its last write. */
export interface Noted extends Document {
  readonly wake?: string
}

export interface ChangeStreamSettings {
  readonly notes: Collection<Noted>
  readonly storeId: string
  readonly clock: Clock
  readonly onWakeUp: (wakeUps: readonly WakeUp[]) => void
  /** What may have been missed while the stream was broken. */
  readonly missed: WakeUp
  /** The stream has broken and is opened again: until then wake-ups come late, and nothing else is wrong. */
  readonly onBreak: (error: unknown) => void
}

/** Listens to what other replicas write, until it is stopped and the client is closed. */
export function followChanges(settings: ChangeStreamSettings): { stop(): Promise<void> } {
  const stopping = new AbortController()
  let stream: ChangeStream | undefined
  const ended = follow()

  async function follow(): Promise<void> {
    for (let failures = 0; !stopping.signal.aborted; failures += 1) {
      try {
        stream = settings.notes.watch(notesOfOthers(settings.storeId))
        for await (const { note } of stream as AsyncIterable<{ note?: unknown }>) {
          failures = 0
          const wakeUp = readWakeNote(note)
          if (wakeUp !== undefined) settings.onWakeUp([wakeUp])
        }
      } catch (error) {
        if (!stopping.signal.aborted) settings.onBreak(error)
      }
      // One that is gone already cannot be closed.
      await stream?.close().catch(() => {})
      await sleep(settings.clock, pauseAfter(failures + 1, reopening), stopping.signal)
      // What was written meanwhile was missed.
      if (!stopping.signal.aborted) settings.onWakeUp([settings.missed])
    }
  }

  return {
    stop() {
      stopping.abort()
      return ended
    },
  }
}

const reopening = { initial: 250, max: 10_000 }

/** Only the notes leave the server; what is not worth one (a lease, a checkpoint) and what we wrote ourselves does not. */
function notesOfOthers(storeId: string): Document[] {
  return [
    { $match: { operationType: { $in: ['insert', 'update', 'replace'] } } },
    // An update shows what it changed, everything else the whole document.
    { $project: { note: { $ifNull: ['$updateDescription.updatedFields.wake', '$fullDocument.wake'] } } },
    { $match: { note: { $type: 'string', $not: new RegExp(`^\\["${storeId}",`) } } },
  ]
}
