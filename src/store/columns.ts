/** What the stores in SQL databases read and write alike. */
import { noOperation } from '../domain/operation.ts'
import type { SharedResource } from '../domain/shared-claim.ts'
import { withoutUndefined } from '../protocol/json.ts'
import type { SealedPlace } from '../sealing.ts'
import type { Bulletin, Chore, ExpiringBinding, NameHolder, Note, Operation, RevisionUse } from '../store.ts'
import type { Sealer } from './sealing.ts'

type Row = Readonly<Record<string, unknown>>

export function text(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('a column of text does not hold text')
  return value
}

/** Authors' words go through JSON too: no database's text holds everything that a JavaScript string can. */
export function toText(words: string | undefined): string | null {
  return words === undefined ? null : JSON.stringify(words)
}

/** What is JSON in its column; undefined where the column is null. */
export function fromText(value: unknown) {
  return value === null ? undefined : JSON.parse(text(value))
}

/** An instance, a binding, an operation or a step: the document and what was sealed of it, and `none` for the rest. */
export function toDocument(
  sealer: Sealer,
  row: Row,
  place: SealedPlace | ((doc: Row) => SealedPlace),
  none: object = {},
): object {
  const doc = JSON.parse(text(row.doc))
  const sealed = sealer.unseal(text(row.sealed), typeof place === 'function' ? place(doc) : place)
  return Object.assign({ ...none }, doc, sealed)
}

/** Where what is sealed of an operation belongs: with what the operation is about. */
export function placeOfOperation(row: Row): SealedPlace {
  return [
    'operation',
    'sealed',
    text(row.instance_id),
    row.binding_id == null ? '' : text(row.binding_id),
    text(row.id),
  ]
}

/** `more`: what else has a column of its own. */
export function toOperation(
  sealer: Sealer,
  row: Row,
  more: Partial<Operation> = {},
  place: (row: Row, doc: Row) => SealedPlace = placeOfOperation,
): Operation {
  const operation: Record<string, unknown> = Object.assign(
    toDocument(sealer, row, doc => place(row, doc), noOperation),
    more,
  )
  operation.state = row.state
  operation.attempt = row.attempt
  operation.losses = row.losses
  operation.notBefore = row.not_before
  if (row.lease_owner !== null) operation.leaseOwner = row.lease_owner
  if (row.lease_until !== null) operation.leaseUntil = row.lease_until
  operation.fence = row.fence
  operation.unclean = Boolean(row.unclean)
  if (row.checkpoint_at !== null) operation.checkpointAt = row.checkpoint_at
  if (row.description !== null) operation.description = fromText(row.description)
  return operation as unknown as Operation
}

export function toShared(key: string, row: Row = {}): SharedResource {
  const { phase, holder } = row
  if (typeof phase !== 'string') return { key, phase: 'absent' }
  return { key, phase: phase as SharedResource['phase'], holder: typeof holder === 'string' ? holder : undefined }
}

/** From the document: a column may hold a hash in place of an id. */
export function toExpiring({ doc }: Row): ExpiringBinding {
  const { instanceId, id } = JSON.parse(text(doc))
  return { instanceId, id }
}

export function toUse(row: Row): RevisionUse {
  return { revisionId: text(row.revision_id), planId: fromText(row.pinned_plan), instances: Number(row.instances) }
}

export function toChore(row: Row): Chore {
  return withoutUndefined({
    name: text(row.name),
    dueAt: Number(row.due_at),
    owner: text(row.owner),
    startedAt: Number(row.started_at),
    fence: Number(row.fence),
    leaseUntil: row.lease_until === null ? undefined : Number(row.lease_until),
    finishedAt: row.finished_at === null ? undefined : Number(row.finished_at),
    result: fromText(row.result),
  })
}

export function toNote({ kind, id, version, expires_at, doc }: Row): Note {
  const expires = expires_at === null ? {} : { expiresAt: Number(expires_at) }
  return { kind: text(kind), id: text(id), version: Number(version), doc: fromText(doc), ...expires }
}

export function toBulletin({ kind, key, at, doc }: Row): Bulletin {
  return { kind: kind as Bulletin['kind'], key: text(key), at: Number(at), doc: JSON.parse(text(doc)) }
}

export function toNameHolder({ owner, since, seen_at }: Row): NameHolder {
  return { owner: text(owner), since: Number(since), seenAt: seen_at === null ? undefined : Number(seen_at) }
}
