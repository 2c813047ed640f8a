import type { HistoryEvent } from '../domain/change.ts'
import type { NoteWrite } from '../domain/note.ts'
import { noInstance } from '../domain/operator.ts'
import type { Store } from '../store.ts'

/**
 * Writes what an operator did to no instance: its line of the history and the notes that it changes, both or none. A
 * NoteConflictError where a note was changed meanwhile.
 */
export function writeAct(
  store: Pick<Store, 'accept'>,
  toLine: (at: number) => HistoryEvent,
  notes: readonly NoteWrite[] = [],
): Promise<void> {
  return store.accept({ instanceId: noInstance }, ({ now }) => ({
    answer: undefined,
    change: { notes, history: [toLine(now)] },
  }))
}
