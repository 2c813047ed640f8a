import { randomUUID } from 'node:crypto'
import { NoteConflictError, type Notes } from '../store.ts'

const kind = 'ledger'
const id = 'id'

/**
 * What tells this ledger from every other one: a random text that is noted when it is first asked for. It goes where the ledger
 * goes. Its address is no such thing: brokers in two pods may both have `sqlite:/data/purser.db`.
 */
export function createLedgerId(store: Pick<Notes, 'note' | 'writeNotes'>): () => Promise<string> {
  let known: Promise<string> | undefined
  return () => {
    known ??= readOrNote(store).catch(error => {
      known = undefined
      throw error
    })
    return known
  }
}

async function readOrNote(store: Pick<Notes, 'note' | 'writeNotes'>): Promise<string> {
  const found = await store.note(kind, id)
  if (found !== undefined) return String(found.doc.id)
  const made = randomUUID()
  try {
    await store.writeNotes([{ kind, id, version: 0, doc: { id: made } }])
    return made
  } catch (error) {
    // Another replica was faster: it is that one.
    if (error instanceof NoteConflictError) return readOrNote(store)
    throw error
  }
}
