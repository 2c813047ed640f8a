export const registryTypes = ['directory', 'oci', 'dockerhub', 'quay', 'helm', 'http'] as const
export type RegistryType = (typeof registryTypes)[number]

/** One entry of the registry section, checked. */
export interface RegistrySettings {
  readonly name: string
  readonly type: RegistryType
  /** The folder of a directory. */
  readonly path?: string
  /** Absent for a directory and for Docker Hub. */
  readonly url?: string
  readonly org?: string
  readonly tag: TagChoice
  /** Images beside those that the registry lists itself. */
  readonly images: readonly string[]
  /** Only `images` are read: the registry is not asked what else it has. */
  readonly imagesOnly: boolean
  /** The image that runs what is no image itself. */
  readonly runner?: string
  readonly whiteList: readonly string[]
  readonly blackList: readonly string[]
  readonly failOnError: boolean
  readonly skipVerifyTls: boolean
  /** Certificates in PEM, or a file of them: trusted beside the usual ones. */
  readonly ca?: string
  readonly auth: RegistryAuth
}

export interface TagChoice {
  readonly default: string
  /** By an image's name. */
  readonly named: Readonly<Record<string, string>>
}

export type RegistryAuth =
  | { readonly kind: 'none' }
  | ({ readonly kind: 'inline' } & Credentials)
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'secret'; readonly name: string }

export interface Credentials {
  readonly username?: string
  readonly password?: string
  readonly token?: string
}

export function tagOf({ default: usual, named }: TagChoice, image: string): string {
  return Object.hasOwn(named, image) ? (named[image] ?? usual) : usual
}

/** Whether `ca` is the text of certificates; a path otherwise. */
export function isCertificate(ca: string): boolean {
  return ca.includes('-----BEGIN')
}
