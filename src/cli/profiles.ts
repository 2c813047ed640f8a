import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { isJsonObject } from '../protocol/json.ts'
import { messageOf } from '../shape/thrown.ts'
import { failure, wrongUsage } from './cli-error.ts'
import type { CliIo } from './io.ts'
import { readPrivateFile, writePrivateFile } from './private-file.ts'

/** A broker by name: where it is, and where the password of its user comes from. */
export interface Profile {
  readonly url: string
  readonly username?: string
  /** At most one of these. The first is the password itself. */
  readonly password?: string
  readonly password_file?: string
  readonly password_env?: string
  readonly password_command?: string
}

export const passwordSources = ['password', 'password_file', 'password_env', 'password_command'] as const

interface Profiles {
  readonly version: 1
  /** The one that is used where none is named. */
  readonly current?: string
  readonly profiles: Readonly<Record<string, Profile>>
}

/** The user's own, unless `PURSER_PROFILES` names another one. Who has no home keeps it beside the memory of a folder. */
export function profilesFile({ env, cwd }: CliIo): string {
  if (env.PURSER_PROFILES) return resolve(cwd, env.PURSER_PROFILES)
  if (env.XDG_CONFIG_HOME) return join(env.XDG_CONFIG_HOME, 'purser', 'profiles.json')
  return env.HOME ? join(env.HOME, '.config', 'purser', 'profiles.json') : join(cwd, '.purser', 'profiles.json')
}

export async function readProfiles(io: CliIo): Promise<Profiles> {
  const file = profilesFile(io)
  const next = 'Correct it, or remove it and add the profiles again with purser profiles set.'
  return (await readPrivateFile(file, isProfiles, next)) ?? { version: 1, profiles: {} }
}

export async function writeProfiles(io: CliIo, profiles: Omit<Profiles, 'version'>): Promise<void> {
  await writePrivateFile(profilesFile(io), { version: 1, ...profiles })
}

function isProfiles(content: unknown): content is Profiles {
  if (!isJsonObject(content) || content.version !== 1 || !isJsonObject(content.profiles)) return false
  return Object.values(content.profiles).every(profile => isJsonObject(profile) && typeof profile.url === 'string')
}

/** Throws where there is none of this name. */
export function findProfile({ profiles }: Profiles, name: string): Profile {
  const found = Object.hasOwn(profiles, name) ? profiles[name] : undefined
  if (found !== undefined) return found
  throw wrongUsage({
    what: `there is no profile ${name}`,
    why: `there are: ${Object.keys(profiles).join(', ') || 'none'}`,
    next: `Add it: purser profiles set ${name} --url https://broker.example.com`,
  })
}

/** Asked for when it is needed, so that a password that changes is right. No message shows it. */
export async function readPassword(io: CliIo, name: string, profile: Profile): Promise<string | undefined> {
  const { password, password_file, password_env, password_command } = profile
  try {
    if (password_file !== undefined) return withoutLineEnd(await readFile(password_file, 'utf8'))
    if (password_command !== undefined)
      return withoutLineEnd((await promisify(execFile)('sh', ['-c', password_command], { cwd: io.cwd })).stdout)
    if (password_env !== undefined && io.env[password_env] === undefined) throw new Error(`${password_env} is not set`)
    return password_env === undefined ? password : io.env[password_env]
  } catch (error) {
    // What a command printed before it failed may be the password.
    const why = password_command === undefined ? messageOf(error) : 'its password command failed'
    throw failure({
      what: `the password of the profile ${name} cannot be had`,
      why,
      next: 'Correct it with purser profiles set, or give --user.',
    })
  }
}

function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/, '')
}
