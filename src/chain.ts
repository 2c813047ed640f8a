/** Chain: the history of all instances as one chain of lines, each hashed with the one before it. */
import type { ChainEnds, Link } from './domain/chain.ts'
import type { HistoryEvent } from './domain/change.ts'
import type { NoteWrite } from './domain/note.ts'

export type { ChainEnds, Link } from './domain/chain.ts'

/** Without `event` the row cannot be read any more: somebody has written into the database. */
export interface LinkedLine extends Link {
  readonly event?: HistoryEvent
}

export interface UnlinkedLine {
  /** What the store finds it by. */
  readonly key: string
  readonly event: HistoryEvent
}

/**
 * Decisions write lines without a link, so that no writer waits for another. One who does it for all links them afterwards, in
 * the order in which they were written, as far as replicas have one. The ends of the chain stand in a note: of several who
 * change it at once, one succeeds, and the others get a NoteConflictError, and have changed nothing.
 */
export interface Chain {
  /** The lines after a number, in the order of their numbers. */
  linked(after: number, max: number): Promise<readonly LinkedLine[]>
  unlinked(max: number): Promise<readonly UnlinkedLine[]>
  countUnlinked(): Promise<number>
  /** How many lines have a number that is not between the ends: nobody but an intruder has written them. Looks at every number. */
  countStray(ends: ChainEnds): Promise<number>
  /** Links them and writes the note, in one transaction. NoteConflictError also where one of them is linked, or gone. */
  link(lines: readonly (Link & Pick<UnlinkedLine, 'key'>)[], note: NoteWrite): Promise<void>
  /** Removes the linked lines up to a number and writes the note, in one transaction. */
  drop(upTo: number, note: NoteWrite): Promise<void>
}
