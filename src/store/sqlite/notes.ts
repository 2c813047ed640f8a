import type { Note, NoteQuery, NoteWrite } from '../../store.ts'
import { text, toNote } from '../columns.ts'
import { endOf, noteConflict } from '../notes.ts'
import type { Statements } from './statements.ts'

export function readNote(statements: Statements, kind: string, id: string): Note | undefined {
  const row = statements.note.get(kind, id)
  return row && toNote(row)
}

export function readNotes(statements: Statements, kind: string, query: NoteQuery): readonly Note[] {
  const { prefix = '', after = '', limit } = query
  return statements.notes.all(kind, after, prefix, endOf(prefix), limit).map(toNote)
}

export function writeNotes(statements: Statements, writes: readonly NoteWrite[]): void {
  for (const { kind, id, version, doc, expiresAt = null } of writes) {
    const isWritten =
      doc === undefined
        ? statements.deleteNote.run(kind, id, version)
        : version === 0
          ? statements.insertNote.run(kind, id, expiresAt, JSON.stringify(doc))
          : statements.updateNote.run(expiresAt, JSON.stringify(doc), kind, id, version)
    if (isWritten === 0) throw noteConflict()
  }
}

export function forgetNotes(statements: Statements, max: number, now: number): number {
  const expired = statements.expiredNotes.all(now, max)
  for (const { kind, id, version } of expired) statements.deleteNote.run(text(kind), text(id), Number(version))
  return expired.length
}
