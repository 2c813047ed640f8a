/** A batch is three kinds of notes: itself, the ids of its items, and one for each item that has ended. */
import { type Batch, type BatchOutcome, toDoc } from '../../domain/batch.ts'
import { BrokerError } from '../../protocol/errors.ts'
import type { Note, NoteWrite, Store } from '../../store.ts'

const chunk = 500
/** A dry run is kept for an hour, and a batch for a month. */
const plannedFor = 3_600_000
const keptFor = 30 * 24 * 3_600_000

export interface KnownBatch {
  readonly batch: Batch
  readonly version: number
}

export async function findBatch(store: Store, id: string): Promise<KnownBatch> {
  const note = await store.note('batch', id)
  if (note === undefined)
    throw new BrokerError('UnknownBatch', `There is no batch "${id}". It may have been forgotten.`)
  return toKnown(note)
}

/** The oldest first. */
export async function readBatches(store: Store): Promise<readonly KnownBatch[]> {
  return (await readAll(store, 'batch')).map(toKnown)
}

/** Ids of those that have begun and not ended. */
export async function activeBatches(store: Store): Promise<readonly string[]> {
  return (await readAll(store, 'batch-active')).map(({ id }) => id)
}

/** With its items, which never change: `refused` are those that its dry run has refused. */
export function newBatch(batch: Batch, ids: readonly string[], refused?: ReadonlySet<string>): readonly NoteWrite[] {
  const expiresAt = batch.createdAt + keptFor
  const chunks = Array.from({ length: Math.ceil(ids.length / chunk) }, (_, index) => index)
  return [
    write(batch, 0),
    ...marker(undefined, batch),
    ...chunks.map(index => {
      const some = ids.slice(index * chunk, (index + 1) * chunk)
      const doc = { ids: some, ...(refused && { refused: some.filter(id => refused.has(id)) }) }
      return { kind: 'batch-ids', id: itemId(batch.id, index), version: 0, doc, expiresAt }
    }),
  ]
}

export function changedBatch({ batch, version }: KnownBatch, more: Partial<Batch>): readonly NoteWrite[] {
  const after = { ...batch, ...more }
  return [write(after, version), ...marker(batch, after)]
}

export interface PlannedItem {
  readonly id: string
  /** Known before it was begun: its dry run has refused it. */
  readonly refused: boolean
}

export async function readItems(store: Store, id: string): Promise<readonly PlannedItem[]> {
  const notes = await readAll(store, 'batch-ids', `${id}/`)
  return notes.flatMap(({ doc }) => {
    const refused = new Set(doc.refused as string[] | undefined)
    return (doc.ids as string[]).map(item => ({ id: item, refused: refused.has(item) }))
  })
}

/** By the place of the item. */
export async function readOutcomes(store: Store, id: string): Promise<ReadonlyMap<number, BatchOutcome>> {
  const notes = await readAll(store, 'batch-item', `${id}/`)
  return new Map(notes.map(note => [Number(note.id.slice(id.length + 1)), note.doc as unknown as BatchOutcome]))
}

export function outcomeNote({ id, createdAt }: Batch, place: number, outcome: BatchOutcome): Omit<Note, 'version'> {
  return { kind: 'batch-item', id: itemId(id, place), doc: toDoc(outcome), expiresAt: createdAt + keptFor }
}

export function itemId(id: string, place: number): string {
  return `${id}/${String(place).padStart(6, '0')}`
}

function write(batch: Batch, version: number): NoteWrite {
  const expiresAt = batch.createdAt + (batch.state === 'planned' ? plannedFor : keptFor)
  return { kind: 'batch', id: batch.id, version, doc: toDoc(batch), expiresAt }
}

/** There while somebody has to work on it, so that it is found among those that have ended. */
function marker(before: Batch | undefined, { id, state }: Batch): readonly NoteWrite[] {
  const [was, is] = [before?.state, state].map(each => each === 'running' || each === 'stopping')
  if (was === is) return []
  return [{ kind: 'batch-active', id, version: is ? 0 : 1, doc: is ? {} : undefined }]
}

async function readAll(store: Store, kind: string, prefix = ''): Promise<readonly Note[]> {
  const found: Note[] = []
  for (;;) {
    const page = await store.notes(kind, { prefix, after: found.at(-1)?.id, limit: chunk })
    found.push(...page)
    if (page.length < chunk) return found
  }
}

function toKnown({ doc, version }: Note): KnownBatch {
  return { batch: doc as unknown as Batch, version }
}
