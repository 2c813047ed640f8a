/** Who has a name. The owner is one process, whatever it is called; a name outlives it. */
export interface NameHolder {
  readonly owner: string
  readonly since: number
  /** When it last said that it lives, by the store's clock. Absent: it has given the name up. */
  readonly seenAt?: number
}

/** What a process wants a name for. */
export interface NameTaking {
  readonly name: string
  readonly owner: string
  /** A holder that was not seen for so long is taken for dead. */
  readonly silence: number
}

/** Whether the name can be had now: its holder has given it up, or is taken for dead. */
export function isFree({ owner, seenAt }: NameHolder, taking: NameTaking, now: number): boolean {
  return owner === taking.owner || seenAt === undefined || seenAt + taking.silence <= now
}

/** What `engine.lease` is at most: no lease that stands ends later from now. */
export const longestLease = 3_600_000

/** A name that nobody was seen under for so long is forgotten: no lease of its holder stands any more. */
export const forgetNamesAfter = 24 * 3_600_000
