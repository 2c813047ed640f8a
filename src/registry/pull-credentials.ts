import type { PullCredentials, SecretReader } from '../registry.ts'
import { readCredentials } from './credentials.ts'
import type { RegistrySettings } from './settings.ts'

/**
 * What an image of this registry is pulled with at run time; undefined where it needs no user, or where there is none: a
 * token alone is good for reading only, but for Quay's. Read anew each time. Rejects with a message that shows no secret.
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
