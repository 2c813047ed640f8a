import type { RegistryAnswer } from './domain/registry-reply.ts'

export type { RegistryAnswer } from './domain/registry-reply.ts'

/** A place that bundles come from. */
export interface Registry {
  /** Unique among the registries of a broker. It is part of the names of what the registry offers. */
  readonly name: string
  readonly type: string
  /** A sync in which it fails counts as failed. What the others answered is written all the same. */
  readonly failOnError?: boolean
  /** Asks afresh each time, and does not reject: whatever goes wrong is in the answer, without any credentials. */
  list(signal: AbortSignal): Promise<RegistryAnswer>
  /** Says when its list may have changed, until the signal is aborted: it is asked then, and not only when its turn comes. */
  watch?(onChange: () => void, signal: AbortSignal): Promise<void>
  /**
   * Which of these images, each by its digest, it still has, and which it has no more. What it says nothing certain about is in
   * neither list. Does not reject.
   */
  findImages?(images: readonly string[], signal: AbortSignal): Promise<FoundImages>
  /** What its images are pulled with. Asked before each pull. Rejects with a message that shows no secret. */
  pullCredentials?(signal: AbortSignal): Promise<PullCredentials | undefined>
}

export interface FoundImages {
  readonly there: readonly string[]
  readonly gone: readonly string[]
}

export interface PullCredentials {
  readonly username: string
  readonly password: string
}

/** Where credentials are kept that a registry only names, such as the Secrets of a Kubernetes namespace. */
export interface SecretReader {
  /** The entries of a secret; undefined where there is none of this name. */
  read(name: string, signal: AbortSignal): Promise<Readonly<Record<string, string>> | undefined>
}
