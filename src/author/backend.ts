import type { JsonObject } from '../protocol/json.ts'

/** Something that a service has in its backend, and whose it is. */
export interface BackendItem {
  /** What operators find it by there. */
  readonly name: string
  /** The instance that it was made for. Without it, it is only reported: nobody can say whether it is needed. */
  readonly instanceId?: string
  /** The binding of that instance that it was made for; absent: it is the instance's own. */
  readonly bindingId?: string
  /** Without it, nobody knows how old it is, and it is only reported. */
  readonly createdAt?: Date | string | number
  /** What `deprovision`, or `unbind`, finds as the state when it removes it; an empty one where it is absent. */
  readonly state?: JsonObject
  /** A sentence for operators. No secrets. */
  readonly detail?: string
}

export interface ListContext {
  /** Aborted when nobody waits for the list any more. */
  readonly signal: AbortSignal
}

/** All of them, as they come: a page at a time where there are many. */
export type BackendList = Iterable<BackendItem> | AsyncIterable<BackendItem>
