import type { Config } from './config.ts'

export interface SecretFile {
  /** What it holds. */
  readonly what: string
  readonly path: string
}

/** The files with secrets that settings name, but for keys of encryption, which are looked at where they are read. */
export function namedSecretFiles({ server, bundles, registries }: Config): readonly SecretFile[] {
  const found: readonly (SecretFile | false)[] = [
    server.tls !== undefined && { what: 'the private key of server.tls', path: server.tls.key },
    ...bundles.secrets.map(each => each.file !== undefined && { what: 'secrets of a bundle', path: each.file }),
    ...registries.map(
      ({ name, authType, authName }) =>
        authType === 'file' &&
        authName !== undefined && { what: `credentials of the registry ${name}`, path: authName },
    ),
  ]
  return found.filter(each => each !== false)
}
