/** What the processes of a storm are told. */
import type { BackendCall } from './record.ts'

export interface Timing {
  readonly leaseMs: number
  readonly callTimeoutMs: number
}

export interface ReplicaSettings extends Timing {
  readonly name: string
  readonly storeUrl: string
  readonly backendUrl: string
  readonly platforms: readonly string[]
  /** How wrong this machine's clock is. */
  readonly clockOffsetMs: number
  readonly notesFile: string
}

export interface BackendSettings {
  readonly seed: string
  readonly callTimeoutMs: number
}

export type CallRequest = Pick<BackendCall, 'kind' | 'name' | 'value' | 'key' | 'fence' | 'sentAt'>

/** `faults`: whether calls go wrong; `hold`: such calls (`put <name>`) are kept waiting until they are released. */
export interface BackendOrder {
  readonly faults?: boolean
  readonly hold?: string
  readonly release?: string
}

export const passwordOf = (platform: string) => `password of ${platform}`
