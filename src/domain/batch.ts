import type { JsonObject } from '../protocol/json.ts'
import { operationVerbs } from './judge-verb.ts'
import { instanceVerbs } from './operator.ts'

/** What a batch can do to each of its items: every verb. */
export const batchActions = [...operationVerbs, ...instanceVerbs] as const
export type BatchAction = (typeof batchActions)[number]

/** What an operator asks for, besides the items. */
export interface BatchOrder {
  readonly action: BatchAction
  readonly reason: string
  /** Of `fail`: what the platforms are told. */
  readonly message?: string
  /** Of `move`: the revision; the one that is offered where it is absent. */
  readonly revision?: string
  /** Of `abandon`: bindings, too. */
  readonly bindings?: boolean
  /** How many are acted on at a time. */
  readonly concurrency: number
  /** So many are begun first, one by one; if one of them fails, no other is begun. One that is refused is not among them. */
  readonly canary: number
  /** After so many that were refused no other is begun; what the dry run has refused does not count. */
  readonly stopAfterFailures?: number
}

/** planned (a dry run) -> running -> done | stopped, running -> stopping -> stopped. */
export type BatchState = 'planned' | 'running' | 'stopping' | 'done' | 'stopped'

export interface Batch extends BatchOrder {
  readonly id: string
  readonly state: BatchState
  /** Who has applied it, where it was a dry run: the history of its items names them. */
  readonly by: string
  readonly requestId?: string
  /** Who has made the dry run. */
  readonly plannedBy?: string
  readonly total: number
  readonly createdAt: number
  readonly startedAt?: number
  readonly finishedAt?: number
  /** Why it was stopped. */
  readonly why?: string
}

/** How one item ended: it was done, the verb was refused, or what a canary began has failed. */
export interface BatchOutcome {
  readonly id: string
  readonly outcome: 'done' | 'refused'
  /** What has come out of it. */
  readonly operation?: string
  readonly status?: number
  readonly error?: string
  readonly detail?: string
}

export const mostItems = 10_000

export function isOfInstances(action: BatchAction): boolean {
  return instanceVerbs.some(verb => verb === action)
}

/** What these begin is meant to succeed: a canary waits for its end. */
export function leadsToSuccess(action: BatchAction): boolean {
  return (
    action === 'retry' || action === 'release' || action === 'run-now' || action === 'observe' || action === 'sweep'
  )
}

export function isWorkedOn({ state }: Batch): boolean {
  return state === 'running' || state === 'stopping'
}

export function toDoc(value: Batch | BatchOutcome): JsonObject {
  return JSON.parse(JSON.stringify(value))
}
