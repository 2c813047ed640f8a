import { wrongUsage } from './cli-error.ts'
import type { CliIo } from './io.ts'
import { findProfile, readPassword, readProfiles } from './profiles.ts'

/** The options that say which broker, and as whom. */
export interface BrokerFlags {
  readonly url?: string
  readonly profile?: string
  /** `name:password`. */
  readonly user?: string
  readonly token?: string
}

interface Chosen {
  readonly url: string
  readonly username?: string
  readonly password?: string
  readonly token?: string
}

export const defaultUrl = 'http://127.0.0.1:8080'

/**
 * Flags over the environment over the file of profiles. Credentials of a profile go to its own address and to no other: an
 * address that is given beside it is refused, or stands for itself.
 */
export async function chooseBroker(io: CliIo, flags: BrokerFlags): Promise<Chosen> {
  const { url, profile, user, token } = flags
  const { PURSER_URL, PURSER_PROFILE, PURSER_USERNAME, PURSER_PASSWORD } = io.env
  if (user !== undefined && token !== undefined) throw excluded('--user and --token', 'there are two ways to sign in')
  if (url !== undefined && profile !== undefined) throw excluded('--url and --profile', 'there are two brokers')
  const given = token === undefined ? user && readUser(user) : { token }
  const named = { username: PURSER_USERNAME, password: PURSER_PASSWORD }
  const address = url ?? (profile === undefined ? PURSER_URL : undefined)
  if (address !== undefined) return { url: address, ...(given ?? named) }
  const profiles = await readProfiles(io)
  const name = profile ?? (PURSER_PROFILE || profiles.current)
  if (name === undefined) return { url: defaultUrl, ...(given ?? named) }
  const found = findProfile(profiles, name)
  const credentials = given ?? (profile === undefined && PURSER_USERNAME !== undefined ? named : undefined)
  if (credentials !== undefined) return { url: found.url, ...credentials }
  if (found.username === undefined) return { url: found.url }
  return { url: found.url, username: found.username, password: await readPassword(io, name, found) }
}

function excluded(both: string, what: string) {
  return wrongUsage({ what, why: `${both} exclude each other`, next: 'Leave one of them off.' })
}

function readUser(user: string) {
  const colon = user.indexOf(':')
  if (colon < 1)
    throw wrongUsage({
      what: '--user needs a name and a password',
      why: 'it does not begin with "name:"',
      next: 'Write --user name:password, or set PURSER_USERNAME and PURSER_PASSWORD.',
    })
  return { username: user.slice(0, colon), password: user.slice(colon + 1) }
}
