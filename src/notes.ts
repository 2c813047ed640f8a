/** Notes: what the operators' API has to remember over all replicas. */
import type { Note, NoteWrite } from './domain/note.ts'

export type { NewNote, Note, NoteWrite } from './domain/note.ts'

export interface NoteQuery {
  /** Those whose ids begin with it; all without it. */
  readonly prefix?: string
  /** Those with higher ids. */
  readonly after?: string
  readonly limit: number
}

export interface Notes {
  note(kind: string, id: string): Promise<Note | undefined>
  /** By their ids, in the order of their characters. */
  notes(kind: string, query: NoteQuery): Promise<readonly Note[]>
  /** All or none: NoteConflictError where one is not of the version that it was. */
  writeNotes(writes: readonly NoteWrite[]): Promise<void>
  /** Removes up to `max` whose `expiresAt` has come, and answers how many. */
  forgetNotes(max: number): Promise<number>
}
