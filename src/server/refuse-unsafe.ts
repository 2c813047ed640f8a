import { stat } from 'node:fs/promises'
import type { PasswordRule } from '../authenticator/basic.ts'
import { StartError } from '../running/start-error.ts'
import { findAdapter } from '../store/schemes.ts'
import { type Config, maskStoreUrl } from './config.ts'
import { isKnownPassword } from './known-passwords.ts'
import { namedSecretFiles } from './secret-files.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** What must not happen by mistake. Throws StartError, with the remedy and the setting that allows it all the same. */
export async function refuseUnsafe(config: Config, env: Environment): Promise<void> {
  const { unsafe, server } = config
  const isProduction = env.NODE_ENV === 'production'
  const isReachable = !isLoopback(server.host)
  if (isReachable && !hasCredentials(config) && !unsafe.open)
    throw new StartError(
      `A broker without credentials must not listen on ${server.host}.`,
      'Everybody who reaches that address could create and delete instances.',
      'Set PURSER_USERNAME and PURSER_PASSWORD, or auth in purser.yaml; or listen on 127.0.0.1. If it is meant: unsafe.open.',
    )
  const known = config.auth.basic.find(user =>
    [user.password, user.passwordHash, user.previousPasswordHash].some(secret => isKnownPassword(secret?.reveal())),
  )
  if (known !== undefined && refusesKnown(config, env))
    throw new StartError(
      `The password of ${known.username} is one that everybody knows.`,
      'It stands in documents, or is among the first that are tried.',
      'Choose another one: "openssl rand -base64 24" makes one. If it is meant: unsafe.knownPasswords.',
    )
  if (isProduction && config.store.reveal().startsWith('memory:') && !unsafe.memoryStore)
    throw new StartError(
      'The store memory: forgets everything when the process ends, and NODE_ENV is production.',
      'Instances would go on existing, and nobody would know of them.',
      'Set store, or PURSER_STORE, to sqlite:, postgres:// or mongodb://. If it is meant: unsafe.memoryStore.',
    )
  refuseClear(config)
  if (!unsafe.readableSecrets) await refuseReadable(config)
}

/**
 * A hash does not tell its password, and to try all that are known on every hash at each start would take seconds. So a login
 * with one of them is refused, whatever hash it fits.
 */
export function knownPasswordRule(config: Config, env: Environment): PasswordRule {
  const isRefused = refusesKnown(config, env)
  return password =>
    isRefused && isKnownPassword(password)
      ? 'the password is one that everybody knows; if it is meant: unsafe.knownPasswords'
      : undefined
}

function refusesKnown({ server, unsafe }: Config, env: Environment): boolean {
  return (env.NODE_ENV === 'production' || !isLoopback(server.host)) && !unsafe.knownPasswords
}

/** A database on a server has administrators, backups and disks of its own: values in clear are a decision. */
function refuseClear({ store, encryption: { key, keys, required } }: Config): void {
  if (!required || key !== undefined || keys.length > 0 || findAdapter(store.reveal())?.server !== true) return
  throw new StartError(
    `A broker without an encryption key does not start on ${maskStoreUrl(store)}.`,
    'Whoever reads that database, or a backup of it, would read credentials, parameters and state.',
    'Set PURSER_ENCRYPTION_KEY to what "openssl rand -base64 32" prints, and keep it; or set encryption.required to false to keep values in clear.',
  )
}

/** Whether anybody can be told apart from others. */
export function hasCredentials({ auth }: Config): boolean {
  return auth.basic.length + auth.jwt.length + auth.certificates.length > 0 || auth.oidc !== undefined
}

const loopback = new Set(['127.0.0.1', '::1', 'localhost'])

export function isLoopback(host: string): boolean {
  return loopback.has(host)
}

async function refuseReadable(config: Config): Promise<void> {
  const { file, plainSecrets } = config
  if (file !== undefined && plainSecrets.length > 0 && (await isReadableByAll(file)))
    throw new StartError(
      `Every user of this machine can read ${file}.`,
      `A secret stands in it: ${plainSecrets.join(', ')}.`,
      `Run "chmod 600 ${file}", or put the secret into the environment, or a hash in its place. If it is meant: unsafe.readableSecrets.`,
    )
  for (const { what, path } of namedSecretFiles(config))
    if (await isReadableByAll(path))
      throw new StartError(
        `Every user of this machine can read ${path}.`,
        `It holds ${what}.`,
        `Run "chmod 600 ${path}"; for a Secret of Kubernetes set defaultMode: 0400. If it is meant: unsafe.readableSecrets.`,
      )
}

/** Windows has no such bits. A file that cannot be looked at is somebody else's trouble. */
async function isReadableByAll(file: string): Promise<boolean> {
  if (process.platform === 'win32') return false
  const found = await stat(file).catch(() => undefined)
  return found !== undefined && (found.mode & 0o004) !== 0
}
