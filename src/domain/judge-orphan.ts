import type { Binding } from './binding.ts'
import type { Snapshot } from './change.ts'
import type { Instance } from './instance.ts'

/** What a backend holds, in milliseconds of its own clock. */
export interface Holding {
  readonly instanceId?: string
  readonly bindingId?: string
  readonly createdAt?: number
}

export type OrphanJudgement =
  /** Somebody has it, or is at work on it. */
  | { readonly kind: 'owned' }
  /** `removal`: how it is removed: as what it was, once more, or for the first time. `reason`: why it is left alone. */
  | { readonly kind: 'orphan'; readonly removal: 'sweep' | 'delete' }
  | { readonly kind: 'orphan'; readonly reason: string }

type Rows = Partial<Pick<Snapshot, 'instance' | 'operation' | 'binding' | 'bindingOperation'>>

/**
 * Whether something in a backend belongs to nobody, and may be removed. Whatever is in doubt stays: what is young, what names no
 * instance, and what somebody is at work on.
 */
export function judgeOrphan(
  { instanceId, bindingId, createdAt }: Holding,
  { instance, operation, binding, bindingOperation }: Rows,
  { now, minimumAge }: { readonly now: number; readonly minimumAge: number },
): OrphanJudgement {
  if (instanceId === undefined) return left('It names no instance.')
  const row = bindingId === undefined ? instance : binding
  if (isLive(instance) && (bindingId === undefined || isLive(binding))) return { kind: 'owned' }
  if ((bindingId === undefined ? operation : bindingOperation) !== undefined) return { kind: 'owned' }
  if (createdAt === undefined) return left('Nobody knows how old it is.')
  if (Math.max(createdAt, row?.deletedAt ?? 0) > now - minimumAge) return left('It is too young.')
  if (bindingId !== undefined && !isLive(instance)) return left('It goes with its instance.')
  if (bindingId !== undefined && isHeld(operation)) return left('Its instance is busy.')
  return { kind: 'orphan', removal: row === undefined ? 'delete' : 'sweep' }
}

function left(reason: string): OrphanJudgement {
  return { kind: 'orphan', reason }
}

function isLive(row: Instance | Binding | undefined): boolean {
  return row !== undefined && row.phase !== 'deleted'
}

function isHeld(operation: Snapshot['operation']): boolean {
  return operation !== undefined && operation.action !== 'observe'
}
