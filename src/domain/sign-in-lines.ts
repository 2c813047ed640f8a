import type { HistoryEvent } from './change.ts'
import { type Acting, acted, noInstance } from './operator.ts'

/** What the history tells of a session. `id` is what operators know it by: nobody can make its token from it. */
export interface SessionFacts {
  readonly id: string
  /** Whose it is. */
  readonly principal: string
  readonly scheme: string
}

/** Somebody has signed in to the console. */
export function sessionBegun(acting: Acting, { id, principal, scheme }: SessionFacts, at: number): HistoryEvent {
  const about = { at, instanceId: noInstance, principal, before: {}, after: { session: id, scheme } }
  return acted('sign-in', acting, about)
}

/** A session was ended before its time: by who had it, or by somebody else. */
export function sessionEnded(acting: Acting, { id, principal, scheme }: SessionFacts, at: number): HistoryEvent {
  const about = { at, instanceId: noInstance, principal, before: { session: id, scheme }, after: {} }
  return acted('end-session', acting, about)
}
