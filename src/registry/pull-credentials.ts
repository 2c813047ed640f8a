import type { PullCredentials, SecretReader } from '../registry.ts'
import { readCredentials } from './credentials.ts'
import type { RegistrySettings } from './settings.ts'

/**
 * The credentials to pull this registry's images with, read again each time. Undefined if none are configured. A token alone
 * cannot pull, except on Quay. Rejects with a message that shows no secret.
 */
export async function pullCredentials(
  { type, auth }: Pick<RegistrySettings, 'type' | 'auth'>,
  secrets: SecretReader | undefined,
  signal: AbortSignal,
): Promise<PullCredentials | undefined> {
  // The credentials of other types are for the server that has the list: whoever has the images must not get them.
  if (type !== 'oci' && type !== 'dockerhub' && type !== 'quay') return undefined
  const { username, password, token } = await readCredentials(auth, secrets, signal)
  if (username !== undefined && password !== undefined) return { username, password }
  return type === 'quay' && token !== undefined ? { username: '$oauthtoken', password: token } : undefined
}
