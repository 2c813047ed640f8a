/** Sealing: what of a ledger is encrypted, and with which keys. */

/** Which row and column a value belongs to. A value that was sealed for one place is of no use in another. */
export type SealedPlace = readonly [row: string, column: string, ...ids: readonly string[]]

/** The keys that values are sealed with. Each has a label, which stands beside what it has sealed. */
export interface Keyring {
  /** Of the key that new values are sealed with. */
  readonly current: string
  readonly labels: readonly string[]
  seal(text: string, place: SealedPlace): string
  /** Throws an UnsealError that names the place, and the key where that is missing. */
  unseal(sealed: string, place: SealedPlace): string
}

/** How many values a key protects. */
export interface KeyUse {
  /** Undefined: they are not encrypted. */
  readonly label?: string
  readonly values: number
}

export interface Sealing {
  /** None: new values are not encrypted. */
  readonly keyring?: Keyring
  /** Looks at every value that there is. */
  uses(): Promise<readonly KeyUse[]>
  /**
   * Seals values with the current key that another one protects, or none: of up to `max` rows from a place on. Answers how
   * many, and where to go on; no `next` where it has come to the end. A row that others change meanwhile is left to them.
   */
  sealAgain(from: string | undefined, max: number): Promise<{ readonly sealed: number; readonly next?: string }>
}

/** A sealed value cannot be read: its key is not configured, or it is not of this row, or it was changed. */
export class UnsealError extends Error {
  override readonly name = 'UnsealError'
}
