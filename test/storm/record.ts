/**
 * What a storm writes down: the platforms' requests and answers, the replicas' writes to the ledger, the backend's calls, and
 * the ledger's rows in the end. All times are milliseconds of the machine's monotonic clock, which its processes share.
 */
import type { Binding, HistoryEvent, Instance, Operation } from '../../src/store.ts'

export type RequestAction = 'provision' | 'update' | 'deprovision' | 'bind' | 'unbind'

/** One request of a platform. Without a status there was no answer. */
export interface Asked {
  readonly type: 'asked'
  readonly action: RequestAction
  readonly instance: string
  readonly binding?: string
  readonly variant?: string
  /** Requests that were sent at the same time have the same number. */
  readonly group: number
  readonly start: number
  readonly end: number
  readonly status?: number
  readonly operation?: string
  readonly text?: string
}

export interface Polled {
  readonly type: 'polled'
  readonly instance: string
  readonly binding?: string
  readonly operation: string
  readonly start: number
  readonly end: number
  readonly status?: number
  readonly state?: string
  readonly text?: string
}

/** What a replica did to the ledger, noted when the answer had come. */
export interface LedgerNote {
  readonly type: 'claim' | 'checkpoint' | 'park' | 'finish' | 'share'
  readonly replica: string
  readonly operation: string
  readonly fence: number
  readonly start: number
  readonly end: number
  /** False: the write was refused. */
  readonly written: boolean
  /** The step that was committed as done. */
  readonly step?: string
}

export interface BackendCall {
  readonly kind: 'put' | 'drop' | 'look'
  readonly name: string
  readonly value?: string
  readonly key: string
  readonly fence: number
  readonly sentAt: number
  readonly fault: string
  readonly arrivedAt: number
  /** Absent: it had no effect. */
  readonly appliedAt?: number
  /** It had its effect when nobody waited for it any more, or when its time was over. */
  readonly late?: boolean
}

export interface BackendRecord {
  readonly things: Readonly<Record<string, string>>
  /** In the order in which they had their effect; those without one are among them. */
  readonly calls: readonly BackendCall[]
  /** Calls that are kept waiting on purpose. */
  readonly waiting?: readonly string[]
}

export interface LedgerInstance {
  readonly row: Instance
  readonly bindings: readonly Binding[]
  readonly history: readonly HistoryEvent[]
  /** Every operation of the history and of the platforms' answers that the ledger has. */
  readonly operations: readonly Operation[]
}

export function monotonicNow(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000
}

/** True from `ms` on from now: for what would never come. */
export function timeLimit(ms: number): () => boolean {
  const end = monotonicNow() + ms
  return () => monotonicNow() > end
}
