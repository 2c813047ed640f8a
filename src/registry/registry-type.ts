import type { Clock } from '../clock.ts'
import type { PullCredentials, RegistryAnswer, SecretReader } from '../registry.ts'
import type { Shape } from '../shape/shape.ts'
import type { Credentials } from './credentials.ts'
import type { Filter } from './filter.ts'
import type { OciClient } from './oci/oci-client.ts'
import type { RegistrySettings } from './settings.ts'
import type { ProxySettings } from './web/proxy.ts'
import type { WebClient } from './web/web-client.ts'

/** A type of registry. `types.ts` lists them all. */
export interface RegistryType {
  readonly name: string
  /** What the Automation Broker calls it. */
  readonly aliases?: readonly string[]
  /** Its settings; `registryShape` makes it. */
  readonly shape: Shape<unknown, RegistrySettings>
  /** What its bundles are. */
  readonly offers: 'folder' | 'image'
  /** Asks for its bundles. The settings are those of its shape. */
  list(settings: RegistrySettings, asking: Asking): Promise<RegistryAnswer>
  /** Says when its list may have changed, until the signal is aborted. */
  watch?(settings: RegistrySettings, asking: Pick<RegistryParts, 'cluster'>, watching: Watching): Promise<void>
  /** Where its images are looked for by their digests: what asks, and what their names begin with. */
  images?(settings: RegistrySettings, asking: Asking): Promise<ImageServer>
  /** What images are pulled with. Without it, whoever has the images gets no credentials: they are for the list only. */
  pull?(credentials: Credentials): PullCredentials | undefined
}

export interface Watching {
  readonly onChange: () => void
  readonly signal: AbortSignal
}

export interface ImageServer {
  readonly client: OciClient
  /** As names of images have it. */
  readonly server: string
}

/** What a registry is asked with, once. */
export interface Asking extends Pick<RegistryParts, 'clock' | 'dockerHub' | 'fetchesCredentials' | 'cluster'> {
  readonly signal: AbortSignal
  readonly web: WebClient
  /** Whether the lists in its settings let a name pass. */
  readonly passes: Filter
  credentials(): Promise<Credentials>
}

/** What registries are given from outside. */
export interface RegistryParts {
  readonly clock: Clock
  readonly secrets?: SecretReader
  /** The cluster of `bundles.kubernetes`, for a type that asks it. Its own type needs a package that not everybody has. */
  readonly cluster?: () => Promise<unknown>
  readonly proxy?: ProxySettings
  /** Whether what runs bundles fetches the credentials of those that keep them (runtime 1). */
  readonly fetchesCredentials?: boolean
  /** Milliseconds: of one request, to its last byte; and before the first repetition (later pauses are longer). */
  readonly limits?: { readonly timeout?: number; readonly firstPause?: number }
  /** Where Docker Hub is, unless it is where everybody knows it: what lists repositories, and what has their images. */
  readonly dockerHub?: { readonly hub: string; readonly registry: string }
}
