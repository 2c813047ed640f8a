import { compareText } from '../../domain/catalog-state.ts'
import type { Note, NoteQuery, NoteWrite } from '../../store.ts'
import { noteConflict } from '../notes.ts'
import { pair, type Tables } from './tables.ts'

export function readNotes(
  tables: Tables,
  kind: string,
  { prefix = '', after = '', limit }: NoteQuery,
): readonly Note[] {
  const found = tables.notes.allOf(kind).filter(({ id }) => id.startsWith(prefix) && id > after)
  return found.sort((one, other) => compareText(one.id, other.id)).slice(0, limit)
}

export function writeNotes(tables: Tables, writes: readonly NoteWrite[]): void {
  for (const { version, doc, ...note } of writes) {
    const key = pair(note.kind, note.id)
    if ((tables.notes.get(key)?.version ?? 0) !== version) throw noteConflict()
    if (doc === undefined) tables.notes.remove(key)
    else tables.notes.put(key, { ...note, doc, version: version + 1 })
  }
}

export function forgetNotes(tables: Tables, max: number, now: number): number {
  const expired = [...tables.notes.all()].filter(({ expiresAt = now + 1 }) => expiresAt <= now).slice(0, max)
  for (const { kind, id } of expired) tables.notes.remove(pair(kind, id))
  return expired.length
}
