/** What the stores in SQL databases read and write alike. */
import type { SharedResource } from '../domain/shared-claim.ts'
import { withoutUndefined } from '../protocol/json.ts'
import type { Chore, Operation, RevisionUse } from '../store.ts'
import { unseal } from './sealing.ts'

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

/** An instance, a binding, an operation or a step: the document and what was sealed of it. */
export function toDocument(row: Row): object {
  return { ...JSON.parse(text(row.doc)), ...(unseal(text(row.sealed)) as object) }
}

/** `more`: what else has a column of its own. */
export function toOperation(row: Row, more: Partial<Operation> = {}): Operation {
  return withoutUndefined({
    ...toDocument(row),
    state: row.state,
    attempt: row.attempt,
    losses: row.losses,
    notBefore: row.not_before,
    leaseOwner: row.lease_owner ?? undefined,
    leaseUntil: row.lease_until ?? undefined,
    fence: row.fence,
    unclean: Boolean(row.unclean),
    checkpointAt: row.checkpoint_at ?? undefined,
    description: fromText(row.description),
    ...more,
  }) as Operation
}

export function toShared(key: string, row: Row = {}): SharedResource {
  const { phase, holder } = row
  if (typeof phase !== 'string') return { key, phase: 'absent' }
  return { key, phase: phase as SharedResource['phase'], holder: typeof holder === 'string' ? holder : undefined }
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
