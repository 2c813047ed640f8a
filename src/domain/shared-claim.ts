/**
 * A resource that several instances need (a namespace label, a shared broker): created with the first claim, removed with
 * the last. One row per key; every decision is made under that row's lock.
 */
export interface SharedResource {
  readonly key: string
  /** `creating` and `removing` without a holder: begun by an operation that has ended; the next one may go on. */
  readonly phase: 'absent' | 'creating' | 'present' | 'removing'
  /** The operation that is creating or removing it. */
  readonly holder?: string
}

/**
 * `sweep` is a release that looks again: a call of an earlier holder may have made what counts as absent. `recreate` is an
 * `acquire` that has waited for the calls of an earlier removal.
 */
export type SharedWish = 'acquire' | 'recreate' | 'release' | 'sweep' | 'settle'

/** What a decision about one shared resource is made from, read under its row's lock. */
export interface SharedSnapshot {
  readonly row: SharedResource
  readonly operationId: string
  /** How many instances besides the caller's claim the resource. */
  readonly otherClaims: number
  /** Whether the holder named in the row can still be working: it is active, or its lease is not over. */
  readonly holderAlive: boolean
}

/**
 * `do`: the caller creates (or removes) it now, then settles; `ready`: nothing to do; `busy`: come again; `quiet`: a
 * removal was begun and not settled, so one of its calls may still land: the caller waits until none can, and
 * comes with `recreate`.
 */
export interface SharedVerdict {
  readonly answer: 'do' | 'ready' | 'busy' | 'quiet'
  readonly row: SharedResource
  /** Whether the caller's instance claims the resource from here on; undefined leaves its claim as it is. */
  readonly claim?: boolean
}

export function decideShared(wish: SharedWish, snapshot: SharedSnapshot): SharedVerdict {
  if (wish === 'settle') return settle(snapshot)
  if (wish === 'acquire' || wish === 'recreate') return acquire(snapshot, wish === 'recreate')
  return release(snapshot, wish === 'sweep')
}

/** The claim stands from here on, whoever creates the resource. */
function acquire(snapshot: SharedSnapshot, isQuiet: boolean): SharedVerdict {
  const { row, operationId } = snapshot
  if (isHeldByOther(snapshot)) return { answer: 'busy', row, claim: true }
  if (row.phase === 'present') return { answer: 'ready', row, claim: true }
  if (row.phase === 'removing' && !isQuiet)
    return { answer: 'quiet', row: { key: row.key, phase: 'removing', holder: operationId }, claim: true }
  return { answer: 'do', row: { key: row.key, phase: 'creating', holder: operationId }, claim: true }
}

/** Only the one that takes the last claim away removes the resource. */
function release(snapshot: SharedSnapshot, again: boolean): SharedVerdict {
  const { row, operationId } = snapshot
  if (snapshot.otherClaims > 0) {
    // What a dead or superseded creation of ours left half made is for the neighbours that still claim it.
    const abandoned = row.phase === 'creating' && !isHeldByOther(snapshot)
    return { answer: 'ready', row: abandoned ? { key: row.key, phase: 'creating' } : row, claim: false }
  }
  if (isHeldByOther(snapshot)) return { answer: 'busy', row }
  if (row.phase === 'absent' && !again) return { answer: 'ready', row, claim: false }
  return { answer: 'do', row: { key: row.key, phase: 'removing', holder: operationId }, claim: false }
}

function settle({ row, operationId }: SharedSnapshot): SharedVerdict {
  if (row.holder !== operationId) return { answer: 'ready', row }
  return { answer: 'ready', row: { key: row.key, phase: row.phase === 'creating' ? 'present' : 'absent' } }
}

function isHeldByOther({ row, operationId, holderAlive }: SharedSnapshot): boolean {
  return row.holder !== undefined && row.holder !== operationId && holderAlive
}
