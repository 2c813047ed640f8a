import type { Clock } from '../clock.ts'
import type { SecretReader } from '../registry.ts'
import type { ProxySettings } from './web/proxy.ts'

/** What registries are given from outside. */
export interface RegistryParts {
  readonly clock: Clock
  readonly secrets?: SecretReader
  readonly proxy?: ProxySettings
  readonly limits?: Partial<Limits>
}

export interface Limits {
  /** Of one request, from the connection to the last byte. */
  readonly requestMs: number
  /** The pause before the first repetition; later ones are longer. */
  readonly retryMs: number
}

export const usualLimits: Limits = { requestMs: 30_000, retryMs: 500 }
