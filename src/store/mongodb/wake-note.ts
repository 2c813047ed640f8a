import type { ObjectId } from 'mongodb'
import type { WakeUp } from '../../store.ts'

/**
 * What a write tells the other replicas, as one text on the document: a change stream shows what has changed, so each
 * note is unlike the one before it.
 */
export function wakeNote(storeId: string, seq: ObjectId, wakeUp: WakeUp): string {
  return JSON.stringify([storeId, seq.toHexString(), wakeUp])
}

/** How the notes of one store begin. */
export function wakeNotesOf(storeId: string): RegExp {
  return new RegExp(`^\\["${storeId}",`)
}

/** Undefined for a note that a newer release wrote in another way: then there is nothing to hear. */
export function readWakeNote(note: unknown): WakeUp | undefined {
  if (typeof note !== 'string') return undefined
  const parsed: unknown = JSON.parse(note)
  const wakeUp = Array.isArray(parsed) ? (parsed[2] as Partial<Record<string, unknown>> | undefined) : undefined
  if (wakeUp?.type === 'work' || wakeUp?.type === 'catalog') return { type: wakeUp.type }
  if (wakeUp?.type !== 'finished' || typeof wakeUp.operationId !== 'string') return undefined
  return { type: 'finished', operationId: wakeUp.operationId }
}
