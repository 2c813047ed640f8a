import { readFile } from 'node:fs/promises'
import { readSource } from '../bundle/source.ts'
import type { PullCredentials, SecretReader } from '../registry.ts'
import { textAt } from '../shape/fields.ts'
import { RegistryError } from './registry-error.ts'
import type { RegistrySettings } from './settings.ts'

export interface Credentials {
  readonly username?: string
  readonly password?: string
  readonly token?: string
}

/** Read anew for each answer, so that credentials that were changed are used at once. */
export async function readCredentials(
  { authType, authName = '', user, pass, token }: RegistrySettings,
  secrets: SecretReader | undefined,
  signal: AbortSignal,
): Promise<Credentials> {
  if (authType === 'file') return fromFile(authName)
  if (authType === 'secret') return fromSecret(authName, secrets, signal)
  return toCredentials(user?.reveal(), pass?.reveal(), token?.reveal())
}

/** For pulling images: a token alone cannot pull. */
export function userOf({ username, password }: Credentials): PullCredentials | undefined {
  return username === undefined || password === undefined ? undefined : { username, password }
}

/** A user without a password is none. */
function toCredentials(username?: string, password?: string, token?: string): Credentials {
  return username === undefined || password === undefined ? { token } : { username, password, token }
}

async function fromFile(path: string): Promise<Credentials> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new RegistryError(`the file of credentials ${path} cannot be read (${error.code}); correct auth_name`)
  })
  const read = readSource(text)
  // What is wrong with the text is not told: the text is a secret.
  if (!read.ok) throw new RegistryError(`the file of credentials ${path} is not valid YAML; ${expected}`)
  return pick(key => textAt(read.source, [key]), `the file of credentials ${path}`)
}

async function fromSecret(name: string, secrets: SecretReader | undefined, signal: AbortSignal): Promise<Credentials> {
  if (secrets === undefined)
    throw new RegistryError(
      `auth_type is secret, and there is nowhere to read the secret "${name}" from; use auth_type file or config`,
    )
  const entries = await secrets.read(name, signal)
  if (entries === undefined) throw new RegistryError(`there is no secret "${name}"; create it, or correct auth_name`)
  return pick(key => (Object.hasOwn(entries, key) ? entries[key] : undefined), `the secret "${name}"`)
}

const expected = 'write username and password, or token'

function pick(entry: (key: string) => string | undefined, what: string): Credentials {
  const found = toCredentials(entry('username'), entry('password'), entry('token'))
  if (found.token === undefined && found.username === undefined)
    throw new RegistryError(`${what} has no credentials; ${expected}`)
  return found
}
