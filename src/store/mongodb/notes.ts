import type { Note, NoteQuery, NoteWrite } from '../../store.ts'
import { endOf, noteConflict } from '../notes.ts'
import { type Database, type Transaction, transact } from './database.ts'
import type { NoteDocument } from './documents.ts'

export async function readNote({ collections }: Database, kind: string, id: string): Promise<Note | undefined> {
  const found = await collections.note.findOne({ _id: keyIn({ kind, id }) })
  return found === null ? undefined : toNote(found)
}

export async function readNotes({ collections }: Database, kind: string, query: NoteQuery): Promise<readonly Note[]> {
  const { prefix = '', after = '', limit } = query
  const range = { $gt: `${kind} ${after}`, $gte: `${kind} ${prefix}`, $lt: `${kind} ${endOf(prefix)}` }
  const found = collections.note.find({ _id: range }).sort({ _id: 1 }).limit(limit)
  return (await found.toArray()).map(toNote)
}

export function writeNotes(ledger: Database, writes: readonly NoteWrite[]): Promise<void> {
  return transact(ledger, tx => putNotes(tx, writes))
}

/** Of two that write the same at once the second is run again, and finds what the first has written. */
export async function putNotes({ collections, session }: Transaction, writes: readonly NoteWrite[]): Promise<void> {
  for (const { kind, id, version, doc, expiresAt } of writes) {
    const _id = keyIn({ kind, id })
    const found = await collections.note.findOne({ _id }, { session, projection: { version: 1 } })
    if ((found?.version ?? 0) !== version) throw noteConflict()
    if (doc === undefined) {
      await collections.note.deleteOne({ _id, version }, { session })
      continue
    }
    const { _id: _key, ...row } = fromNote({ kind, id, version: version + 1, doc, expiresAt })
    if (version === 0) await collections.note.insertOne({ _id, ...row }, { session })
    else await collections.note.replaceOne({ _id, version }, row, { session })
  }
}

export async function forgetNotes({ collections, now }: Database, max: number): Promise<number> {
  const expired = { expiresAt: { $exists: true }, $expr: { $lte: ['$expiresAt', now()] } }
  const found = await collections.note
    .find(expired)
    .sort({ expiresAt: 1 })
    .limit(max)
    .project<{ _id: string }>({ _id: 1 })
    .toArray()
  if (found.length === 0) return 0
  const { deletedCount } = await collections.note.deleteMany({ ...expired, _id: { $in: found.map(({ _id }) => _id) } })
  return deletedCount
}

function keyIn({ kind, id }: Pick<Note, 'kind' | 'id'>): string {
  return `${kind} ${id}`
}

export function fromNote({ kind, id, version, doc, expiresAt }: Note): NoteDocument {
  const expires = expiresAt === undefined ? {} : { expiresAt }
  return { _id: keyIn({ kind, id }), version, doc: JSON.stringify(doc), ...expires }
}

export function toNote({ _id, version, expiresAt, doc }: NoteDocument): Note {
  const space = _id.indexOf(' ')
  const expires = expiresAt === undefined ? {} : { expiresAt }
  return { kind: _id.slice(0, space), id: _id.slice(space + 1), version, doc: JSON.parse(doc), ...expires }
}
