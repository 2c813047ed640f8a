/** Moving: all rows of a ledger, out of one store and into another. A store of one's own may have none of it. */
import type { Binding } from './domain/binding.ts'
import type { RegisteredService, RegistryState } from './domain/catalog-state.ts'
import type { Link } from './domain/chain.ts'
import type { HistoryEvent } from './domain/change.ts'
import type { Instance } from './domain/instance.ts'
import type { Note } from './domain/note.ts'
import type { Operation, Step } from './domain/operation.ts'
import type { Revision } from './domain/revision.ts'
import type { SharedResource } from './domain/shared-claim.ts'
import type { JsonObject } from './protocol/json.ts'
import type { Chore } from './upkeep.ts'

/** What there is once in a ledger: the last fence that was given, and the version of the catalog with its latest report. */
export interface LedgerState {
  readonly fence: number
  readonly catalogVersion: number
  readonly lastChange?: { readonly at: number; readonly report: JsonObject }
}

/** A line of the history, and where it stands in the chain, once it does. */
export type MovedEvent = HistoryEvent & { readonly link?: Link }

export interface SharedClaim {
  readonly key: string
  readonly instanceId: string
}

/** The kinds of rows, in the order in which they go: whatever a row refers to stands before it. */
export interface LedgerRows {
  readonly ledger: LedgerState
  readonly revision: Revision
  readonly service: RegisteredService
  readonly registry: RegistryState
  readonly instance: Instance
  readonly binding: Binding
  readonly operation: Operation
  /** In the order in which the steps of an operation were first written. */
  readonly step: Step & { readonly operationId: string }
  readonly shared: SharedResource
  readonly claim: SharedClaim
  readonly chore: Chore
  /** Of each instance in the order of what happened. */
  readonly history: MovedEvent
  /** Gates, batches with their items, answers to requests with a key, which would be done twice without them, and who the ledger is. */
  readonly note: Note
}

/** Kinds of notes that stay where they are: keys are those of one store, and who is signed in there signs in anew. */
export const localNotes: readonly string[] = ['encryption-key', 'session']

export type LedgerRow = {
  readonly [Kind in keyof LedgerRows]: { readonly [Key in Kind]: LedgerRows[Kind] }
}[keyof LedgerRows]

/** How far an import has come: which export it is of, and the last line that is in the ledger. */
export interface ImportProgress {
  readonly id: string
  readonly line: number
}

export interface Moving {
  /**
   * Gives every row, as of one moment, some at a time; the next come when `take` has ended. Others go on meanwhile. `total` is
   * about how many there are, for people who wait.
   */
  exportRows(take: (rows: readonly LedgerRow[], total: number) => Promise<void>): Promise<void>
  /** `empty`: nothing that an import would bring is there. `progress`: one has begun, and has not ended. */
  importState(): Promise<{ readonly empty: boolean; readonly progress?: ImportProgress }>
  /** Writes the rows and how far that is, in one transaction. Without `progress` it was the end. */
  importRows(rows: readonly LedgerRow[], progress: ImportProgress | undefined): Promise<void>
  /** Writes a copy of everything to a new file, as of one moment, while others go on; where the store is a file. */
  backup?(file: string): Promise<void>
}

/** How many rows go at a time. */
export const exportedAtOnce = 500

/** Rows of one kind, in batches. */
export function rowsOf<Kind extends keyof LedgerRows>(kind: Kind, rows: readonly LedgerRows[Kind][]): LedgerRow[] {
  return rows.map(row => ({ [kind]: row }) as unknown as LedgerRow)
}

/** The rows of each kind, in the order of the kinds. */
export function byKind(rows: readonly LedgerRow[]): {
  readonly [Kind in keyof LedgerRows]: readonly LedgerRows[Kind][]
} {
  const pick = <Kind extends keyof LedgerRows>(kind: Kind) =>
    rows.flatMap(row => (kind in row ? [(row as unknown as LedgerRows)[kind]] : []))
  return {
    ledger: pick('ledger'),
    revision: pick('revision'),
    service: pick('service'),
    registry: pick('registry'),
    instance: pick('instance'),
    binding: pick('binding'),
    operation: pick('operation'),
    step: pick('step'),
    shared: pick('shared'),
    claim: pick('claim'),
    chore: pick('chore'),
    history: pick('history'),
    note: pick('note'),
  }
}
