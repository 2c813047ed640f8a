import type { JsonObject } from '../protocol/json.ts'

/** What every action may return. */
export interface AnyResult {
  /** What the platform shows when the action has succeeded. What `ctx.describe` said is over then. */
  readonly message?: string
}

export interface ProvisionResult<State> extends AnyResult {
  /** Comes back in every later action of the instance. JSON. */
  readonly state?: State
  readonly dashboardUrl?: string
  /** Shown to users (`labels`) and read by platforms (`attributes`). */
  readonly metadata?: { readonly labels?: JsonObject; readonly attributes?: JsonObject }
}

export interface BindResult<Credentials, BindingState> extends AnyResult {
  readonly credentials?: Credentials
  /** Needs `requires: ['syslog_drain']`. */
  readonly syslogDrainUrl?: string
  /** Needs `requires: ['route_forwarding']`. */
  readonly routeServiceUrl?: string
  /** Needs `requires: ['volume_mount']`. */
  readonly volumeMounts?: readonly VolumeMount[]
  readonly endpoints?: readonly Endpoint[]
  readonly metadata?: { readonly expiresAt?: Date | string; readonly renewBefore?: Date | string }
  /** Comes back in `unbind` as `ctx.bindingState`. JSON. */
  readonly state?: BindingState
  /** Merged into the instance's state, key by key, when the bind has succeeded; null removes a key. */
  readonly instanceState?: JsonObject
}

export interface UnbindResult extends AnyResult {
  /** As for a bind. Not for an unbind that is part of a deprovision: the state goes with the instance. */
  readonly instanceState?: JsonObject
}

export interface VolumeMount {
  readonly driver: string
  readonly containerDir: string
  readonly mode: 'r' | 'rw'
  readonly deviceType: 'shared'
  readonly device: { readonly volumeId: string; readonly mountConfig?: JsonObject }
}

export interface Endpoint {
  readonly host: string
  /** `'443'`, or a range `'9000-9010'`. */
  readonly ports: readonly string[]
  readonly protocol?: 'tcp' | 'udp' | 'all'
}

export interface ObserveResult {
  readonly ready: boolean
  readonly degraded?: boolean
  /** One CamelCase word, for machines; and a sentence for people. */
  readonly reason?: string
  readonly message?: string
}
