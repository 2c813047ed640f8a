import { createHash, type Hash } from 'node:crypto'
import type { LedgerRow, LedgerRows } from '../../moving.ts'

/**
 * An export is lines of JSON. The first one is the header, then come the rows, each with its number; after some of them stands
 * a check: the hash of all lines before it. The last line is the end, with the number of rows of each kind and such a hash.
 */
export const formatName = 'purser ledger'
export const formatVersion = 1

export interface Header {
  readonly format: string
  readonly version: number
  readonly id: string
  readonly at: string
  /** The store that it came from, without a password. */
  readonly from: string
  /** Whether what is sealed is in it. */
  readonly secrets: boolean
  /** The label of the key that it is encrypted with; absent where it is not. */
  readonly key?: string
}

export type Counts = Partial<Readonly<Record<keyof LedgerRows, number>>>

export interface End {
  readonly counts: Counts
  readonly sha256: string
}

export type Line =
  | { readonly line: number; readonly header: Header }
  /** `sealed`: what is secret of the row, encrypted. */
  | ({ readonly line: number; readonly sealed?: string } & LedgerRow)
  | { readonly line: number; readonly check: string }
  | { readonly line: number; readonly end: End }

/** Of all that was written or read so far. */
export function createChecksum() {
  const hash: Hash = createHash('sha256')
  return {
    add: (text: string) => void hash.update(text),
    now: () => hash.copy().digest('base64url'),
  }
}

export function kindOf(row: LedgerRow): keyof LedgerRows {
  return Object.keys(row)[0] as keyof LedgerRows
}
