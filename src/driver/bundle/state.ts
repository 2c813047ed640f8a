import { TerminalError } from '../../engine/errors.ts'
import { isJsonObject, type JsonObject } from '../../protocol/json.ts'
import type { SandboxPlace } from './pick-runtime.ts'

/** What the ledger keeps for an instance or a binding of a bundle. */
export interface BundleState {
  /** What the bundle asked to be kept, one text a key. */
  readonly values: StateValues
  /** Instance: what its provision or an update gave. Binding: what its bind gave, if it gave any of its own. */
  readonly credentials?: JsonObject
  /** There while an action runs, and after one that failed. */
  readonly sandbox?: SavedSandbox
}

export type StateValues = Readonly<Record<string, string>>
export type StateChanges = Readonly<Record<string, string | null>>

/** Written before a sandbox is started: whoever comes later knows that there may be one, where, and until when. */
export interface SavedSandbox extends SandboxPlace {
  readonly name: string
  readonly attempt: number
  /** After this time of the store's clock it has ended, whether anybody saw it or not. */
  readonly until: number
  /** How often an operator had released the operation by then. */
  readonly round?: number
  /** It has ended, and what it left is in the ledger: the bundle failed, or asked to be run again. */
  readonly ended?: 'failed' | 'again'
}

const maxBytes = 1024 * 1024

export function readState({ state, credentials, sandbox }: JsonObject): BundleState {
  const values = Object.entries(isJsonObject(state) ? state : {}).flatMap(([key, value]) =>
    typeof value === 'string' ? [[key, value] as const] : [],
  )
  return {
    values: Object.fromEntries(values),
    credentials: isJsonObject(credentials) ? credentials : undefined,
    sandbox: isJsonObject(sandbox) ? readSandbox(sandbox) : undefined,
  }
}

/** What is kept when an action has succeeded: no sandbox is left then. */
export function toStored(values: StateValues, credentials: JsonObject | undefined): JsonObject {
  return { state: values, credentials }
}

/** Key by key; null removes one. Refuses what would be too large. */
export function changeValues(before: StateValues, changes: StateChanges = {}): StateValues {
  const values = new Map(Object.entries(before))
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) values.delete(key)
    else values.set(key, value)
  }
  const bytes = [...values].reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0)
  if (bytes > maxBytes)
    throw new TerminalError(
      `The bundle's state would have ${bytes} bytes, and may have ${maxBytes}: it has to keep less, or to remove keys.`,
    )
  return Object.fromEntries(values)
}

function readSandbox({ name, attempt, host, runtime, until, ended, round }: JsonObject): SavedSandbox | undefined {
  if (typeof name !== 'string' || typeof runtime !== 'string') return undefined
  return {
    name,
    attempt: Number(attempt),
    host: typeof host === 'string' ? host : undefined,
    runtime,
    until: Number(until),
    round: typeof round === 'number' ? round : undefined,
    ended: ended === 'failed' || ended === 'again' ? ended : undefined,
  }
}
