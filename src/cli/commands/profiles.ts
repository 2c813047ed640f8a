import { resolve } from 'node:path'
import { askPassword } from '../ask-hidden.ts'
import { wrongUsage } from '../cli-error.ts'
import type { CliCommand } from '../command.ts'
import type { CliIo } from '../io.ts'
import { findProfile, type Profile, passwordSources, profilesFile, readProfiles, writeProfiles } from '../profiles.ts'
import { render } from '../render/output.ts'
import { renderTable } from '../render/tables.ts'

export function defineCommand(program: CliCommand): void {
  const { io } = program
  const profiles = program
    .command('profiles')
    .description('names for brokers, so that a command needs no address and no password')
    .examples(
      'purser profiles set prod --url https://broker.example.com --username ops --ask-password',
      'purser profiles use prod',
    )
  profiles
    .command('list')
    .description('list the profiles; passwords are not shown')
    .outputOption()
    .examples('purser profiles list')
    .action(({ output }: { readonly output: 'text' | 'json' }) => list(io, output))
  profiles
    .command('set')
    .argument('<name>', 'name of the profile', parseName)
    .description('add a profile, or change what is given')
    .option('--url <url>', 'address of the broker; needed for a new one')
    .option('--username <name>', 'who signs in')
    .option('--ask-password', 'keep a password, which is asked for or read from a pipe')
    .option('--password-file <file>', 'read the password from this file')
    .option('--password-env <variable>', 'read it from this environment variable')
    .option('--password-command <command>', 'read what this command prints, such as "pass show broker"')
    .explain(
      'The file is readable for you only: profiles.json in ~/.config/purser, or what PURSER_PROFILES names. Of the ways',
      'to a password one counts: a new one replaces the one before.',
    )
    .examples(
      'purser profiles set prod --url https://broker.example.com --username ops --password-command "pass show broker"',
      'echo "$SECRET" | purser profiles set test --username ops --ask-password',
    )
    .action((name: string, flags: SetFlags) => set(io, name, flags))
  profiles
    .command('use')
    .argument('<name>', 'name of the profile')
    .description('use a profile wherever no other broker is named')
    .examples('purser profiles use prod')
    .action((name: string) => use(io, name))
  profiles
    .command('remove')
    .argument('<name>', 'name of the profile')
    .description('forget a profile, with its password')
    .examples('purser profiles remove prod')
    .action((name: string) => remove(io, name))
}

function parseName(name: string): string {
  if (/^[\w.-]+$/.test(name)) return name
  throw wrongUsage({
    what: `"${name}" cannot be the name of a profile`,
    why: 'a name has letters, digits, dots, dashes and underscores',
    next: 'Choose another one.',
  })
}

async function list(io: CliIo, output: 'text' | 'json'): Promise<void> {
  const { current, profiles } = await readProfiles(io)
  const items = Object.entries(profiles).map(([name, profile]) => {
    const { url, username } = profile
    return { name, current: name === current, url, username, password: describePassword(profile) }
  })
  const rows = items.map(({ name, current: isCurrent, url, username = '-', password = '-' }) => [
    `${isCurrent ? '*' : ' '} ${name}`,
    url,
    username,
    password,
  ])
  const text =
    rows.length === 0
      ? 'There are no profiles: purser profiles set adds one.\n'
      : renderTable([['  NAME', 'URL', 'USER', 'PASSWORD'], ...rows])
  io.stdout.write(render({ items }, text, output))
}

/** Where it comes from, and never what it is. */
function describePassword({ password, password_file, password_env, password_command }: Profile): string | undefined {
  if (password_file !== undefined) return `file ${password_file}`
  if (password_env !== undefined) return `variable ${password_env}`
  if (password_command !== undefined) return 'command'
  return password === undefined ? undefined : 'kept'
}

interface SetFlags {
  readonly url?: string
  readonly username?: string
  readonly askPassword?: boolean
  readonly passwordFile?: string
  readonly passwordEnv?: string
  readonly passwordCommand?: string
}

async function set(io: CliIo, name: string, flags: SetFlags): Promise<void> {
  const known = await readProfiles(io)
  const before = Object.hasOwn(known.profiles, name) ? known.profiles[name] : undefined
  const url = flags.url ?? before?.url
  if (url === undefined || !/^https?:\/\/[^/@]+(\/|$)/.test(url))
    throw wrongUsage({
      what: `the profile ${name} needs an address`,
      why: url === undefined ? 'it is new' : 'it is not one, or it holds credentials',
      next: 'Give --url https://broker.example.com, and the user with --username.',
    })
  const password = await readSource(io, flags)
  const kept = Object.fromEntries(
    Object.entries(before ?? {}).filter(
      ([key]) => password === undefined || !passwordSources.some(source => source === key),
    ),
  )
  const profile: Profile = {
    ...kept,
    url,
    ...(flags.username !== undefined && { username: flags.username }),
    ...password,
  }
  await writeProfiles(io, { ...known, profiles: { ...known.profiles, [name]: profile } })
  const hint =
    known.current === name ? '' : ` Use it with --profile ${name}, or everywhere: purser profiles use ${name}`
  io.stderr.write(`${name} is kept in ${profilesFile(io)}.${hint}\n`)
}

/** The way to the password that the flags give; undefined where they give none. */
async function readSource(io: CliIo, flags: SetFlags): Promise<Partial<Profile> | undefined> {
  const { passwordFile, passwordEnv: password_env, passwordCommand: password_command, askPassword: ask } = flags
  const given = [passwordFile, password_env, password_command, ask].filter(way => way !== undefined)
  if (given.length > 1)
    throw wrongUsage({
      what: 'there are several ways to the password',
      why: 'one of them has to count',
      next: 'Give one of --ask-password, --password-file, --password-env and --password-command.',
    })
  if (passwordFile !== undefined) return { password_file: resolve(io.cwd, passwordFile) }
  if (password_env !== undefined) return { password_env }
  if (password_command !== undefined) return { password_command }
  return ask === true ? { password: await askPassword(io) } : undefined
}

async function use(io: CliIo, name: string): Promise<void> {
  const known = await readProfiles(io)
  const { url } = findProfile(known, name)
  await writeProfiles(io, { ...known, current: name })
  io.stderr.write(`Commands go to ${url} from now on, unless they name another broker.\n`)
}

async function remove(io: CliIo, name: string): Promise<void> {
  const { current, profiles } = await readProfiles(io)
  findProfile({ version: 1, profiles }, name)
  const { [name]: _, ...others } = profiles
  await writeProfiles(io, { current: current === name ? undefined : current, profiles: others })
  io.stderr.write(`${name} is forgotten.\n`)
}
