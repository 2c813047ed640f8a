import { hashRequest } from '../../domain/request-hash.ts'
import { BrokerError } from '../../protocol/errors.ts'
import type { JsonObject } from '../../protocol/json.ts'
import { malformed } from '../../protocol/request-fields.ts'
import { type NewNote, NoteConflictError, type Store } from '../../store.ts'
import type { HttpResponse } from '../message.ts'
import { json } from '../respond.ts'

/** How long the answer to a request with a key is kept, at least. */
const keptFor = 24 * 3_600_000

/** A request that says `Idempotency-Key`: its answer is kept with what it has changed. */
export interface Once {
  note(status: number, body: JsonObject): NewNote
}

interface Keyed {
  readonly key: string | undefined
  readonly principal: string
  readonly path: string
  readonly body: () => Promise<JsonObject>
  readonly now: () => number
}

/**
 * The same key with the same request is answered as the first was, and nothing is done again, on whichever replica; with another
 * request it is refused. What was refused is not kept. Of two at once, one acts, and the other is told the same.
 */
export async function answerOnce(
  store: Store,
  { key, principal, path, body, now }: Keyed,
  answer: (once?: Once) => Promise<HttpResponse>,
): Promise<HttpResponse> {
  if (key === undefined) return answer()
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) throw malformed('Idempotency-Key is 1 to 255 visible ASCII characters')
  const id = hashRequest({ principal, key })
  const request = hashRequest({ path, body: await body() })
  const kept = await replay(store, id, request)
  if (kept !== undefined) return kept
  let isNoted = false
  const noteOf = (status: number, sent: JsonObject): NewNote => {
    isNoted = true
    const doc = { request, status, body: JSON.parse(JSON.stringify(sent)) }
    return { kind: 'request', id, doc, expiresAt: now() + keptFor }
  }
  try {
    const answered = await answer({ note: noteOf })
    // What changes nothing in the ledger is kept when it was done.
    if (!isNoted && answered.status < 300)
      await store.writeNotes([{ ...noteOf(answered.status, JSON.parse(String(answered.body))), version: 0 }])
    return answered
  } catch (error) {
    const first =
      error instanceof NoteConflictError || error instanceof BrokerError ? await replay(store, id, request) : undefined
    if (first === undefined) throw error
    return first
  }
}

async function replay(store: Store, id: string, request: string): Promise<HttpResponse | undefined> {
  const note = await store.note('request', id)
  if (note === undefined) return undefined
  if (note.doc.request !== request)
    throw new BrokerError('KeyReused', 'This Idempotency-Key was used for another request: choose a new one.')
  return json(Number(note.doc.status), note.doc.body as JsonObject, { 'idempotency-replayed': 'true' })
}
