import { BrokerError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { HistoryEvent, Verdict } from './change.ts'
import type { Instance } from './instance.ts'
import { operationVerbs } from './judge-verb.ts'
import type { NewNote } from './note.ts'
import type { Operation } from './operation.ts'
import { versionOf } from './row-version.ts'

/** What batches and pages may do to an instance. */
export const instanceVerbs = ['move', 'abandon', 'observe', 'sweep'] as const
export type InstanceVerb = (typeof instanceVerbs)[number]
/** What people do, and try, to get into the console and out of it. */
const sessionVerbs = ['sign-in', 'refuse-sign-in', 'end-session'] as const
/** What they do to no instance, but to the broker. */
const brokerVerbs = ['rotate-keys', 'close-gate', 'open-gate', 'start-batch', 'stop-batch', 'run-chore'] as const
/** All that operators do by hand. */
export const verbs = [
  ...operationVerbs,
  ...instanceVerbs,
  'adopt',
  'remove-orphan',
  ...brokerVerbs,
  ...sessionVerbs,
] as const
export type Verb = (typeof verbs)[number]

/** No instance has this id: the history of what is about none of them, or about all. */
export const noInstance = ''

/** Who does it, why, and under which request. */
export interface Acting {
  readonly by: string
  /** The IP address that the request came from. */
  readonly address?: string
  readonly reason?: string
  readonly requestId?: string
  readonly traceparent?: string
  /** What the operator has seen of the row (`versionOf`): refused where none of them is true any more. */
  readonly seen?: readonly string[]
  /** A note that is written with the change, so that whoever repeats the request is told what came of it. */
  readonly remember?: (answer: unknown) => NewNote
}

/** Refuses what was decided from a row that has changed since. `now` is it under the lock. */
export function checkSeen({ seen }: Acting, now: Instance | Operation | undefined): void {
  if (seen === undefined || (now !== undefined && seen.includes(versionOf(now)))) return
  throw new BrokerError('StaleVersion', 'It has changed since you looked at it: look again, and decide again.')
}

/** With the note that the request asks for. */
export function remembered<Answer>({ remember }: Acting, verdict: Verdict<Answer>): Verdict<Answer> {
  if (remember === undefined) return verdict
  const { answer, change } = verdict
  return { answer, change: { ...change, notes: [...(change?.notes ?? []), { ...remember(answer), version: 0 }] } }
}

/** The line of the history that every change by hand leaves, in the transaction of the change. */
export function acted(
  verb: Verb,
  { by, address, reason, requestId }: Acting,
  about: Pick<HistoryEvent, 'at' | 'instanceId' | 'bindingId' | 'operationId' | 'action' | 'principal'> & {
    readonly before: JsonObject
    readonly after: JsonObject
  },
): HistoryEvent {
  return { type: 'acted', verb, by, address, reason, requestId, ...about }
}
