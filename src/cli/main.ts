import { CommanderError } from 'commander'
import { packageVersion } from '../running/package-version.ts'
import { CliCommand } from './command.ts'
import { describeError } from './describe-error.ts'
import { type CliIo, createPaint, processIo } from './io.ts'
import { type Output, render } from './render/output.ts'
import { verbsFirst } from './verbs-first.ts'

/** Runs one command; `args` come without the names of node and of the script. Resolves to the exit code. */
export async function main(args: readonly string[], io: CliIo): Promise<number> {
  try {
    if (args[0] === 'complete') return await complete(args.slice(1), io)
    const program = await createProgram(io, args)
    await program.parseAsync([...verbsFirst(program, args)], { from: 'user' })
    return 0
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0
    const { text, body, exitCode } =
      error instanceof CommanderError ? describeUsage(error) : describeError(error, createPaint(io))
    io.stderr.write(text)
    io.stdout.write(render(body, '', outputOf(args)))
    return exitCode
  }
}

/** For the scripts of `purser completion`: prints what may stand in the place of the last word, and never an error. */
async function complete(words: readonly string[], io: CliIo): Promise<number> {
  const { findCandidates } = await import('./complete/candidates.ts')
  const found = await findCandidates(await createProgram(io, []), words, io)
  io.stdout.write(found.map(candidate => `${candidate}\n`).join(''))
  return 0
}

/** From what was typed: a command line that cannot be read wants its answer in JSON, too. */
function outputOf(args: readonly string[]): Output {
  const said = args.map((arg, index) => (arg === '--output' ? args[index + 1] : /^--output=(.*)/.exec(arg)?.[1]))
  return said.find(output => output === 'json' || output === 'jsonl') ?? 'text'
}

/** Commander has written it to stderr already. */
function describeUsage({ code, message }: CommanderError) {
  const what = code === 'commander.help' ? 'there is no command' : message.replace(/^error: /, '')
  return { text: '', body: { error: what, next: 'purser help shows the commands and their options.' }, exitCode: 2 }
}

export async function run(): Promise<void> {
  const args = process.argv.slice(2)
  // A reader that has read enough, such as head, is not an error. A broker outlives the reader of its log, whatever becomes
  // of it: a closed terminal, or a full disk.
  process.stdout.on('error', error => {
    if (args.includes('serve')) return
    if (!('code' in error) || error.code !== 'EPIPE') throw error
    process.exit()
  })
  process.exitCode = await main(args, processIo())
}

type Loader = () => Promise<{ defineCommand(program: CliCommand): void }>

/** All commands, in the order of the help. A command loads only its own file; the help loads all of them. */
const groups: Readonly<Record<string, Readonly<Record<string, Loader>>>> = {
  'Brokers:': {
    serve: () => import('./commands/serve.ts'),
    init: () => import('./commands/init.ts'),
    'hash-password': () => import('./commands/hash-password.ts'),
    migrate: () => import('./commands/migrate.ts'),
    export: () => import('./commands/export.ts'),
    import: () => import('./commands/import.ts'),
    backup: () => import('./commands/backup.ts'),
    config: () => import('./commands/config.ts'),
    doctor: () => import('./commands/doctor.ts'),
  },
  "A platform's verbs, against any broker:": {
    catalog: () => import('./commands/catalog.ts'),
    provision: () => import('./commands/provision.ts'),
    update: () => import('./commands/update.ts'),
    bind: () => import('./commands/bind.ts'),
    credentials: () => import('./commands/credentials.ts'),
    unbind: () => import('./commands/unbind.ts'),
    deprovision: () => import('./commands/deprovision.ts'),
    status: () => import('./commands/status.ts'),
  },
  'Upkeep, for operators of a Purser broker:': {
    chores: () => import('./commands/chores.ts'),
    registries: () => import('./commands/registries.ts'),
    operations: () => import('./commands/operations.ts'),
    instances: () => import('./commands/instances.ts'),
    bindings: () => import('./commands/bindings.ts'),
    orphans: () => import('./commands/orphans.ts'),
    batches: () => import('./commands/batches.ts'),
    gates: () => import('./commands/gates.ts'),
    sessions: () => import('./commands/sessions.ts'),
    keys: () => import('./commands/keys.ts'),
    errors: () => import('./commands/errors.ts'),
    stats: () => import('./commands/stats.ts'),
    workers: () => import('./commands/workers.ts'),
    quotas: () => import('./commands/quotas.ts'),
    history: () => import('./commands/history.ts'),
    wait: () => import('./commands/wait.ts'),
    'log-level': () => import('./commands/log-level.ts'),
  },
  'This command:': {
    profiles: () => import('./commands/profiles.ts'),
    completion: () => import('./commands/completion.ts'),
  },
  'Bundles, for their authors:': { bundle: () => import('./commands/bundle.ts') },
}

/** The commands that these arguments need; all of them where that is not clear. */
export async function createProgram(io: CliIo, args: readonly string[]): Promise<CliCommand> {
  const program = new CliCommand(io, 'purser')
    .description('An Open Service Broker, and the tools around it.')
    .version(packageVersion(), '-v, --version', 'print the version')
    .exitOverride()
    .configureOutput({
      writeOut: text => io.stdout.write(text),
      writeErr: text => io.stderr.write(text),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .examples('purser init my-broker', 'purser serve broker.mjs', 'purser catalog', 'purser provision notes small')
    .explain('purser help <command> shows the options and examples of a command.')
  const [first = '', second = ''] = args
  const named = first === 'help' ? second : first
  const isCommand = Object.values(groups).some(commands => Object.hasOwn(commands, named))
  for (const [title, commands] of Object.entries(groups)) {
    program.commandsGroup(title)
    for (const [name, load] of Object.entries(commands))
      if (!isCommand || name === named) (await load()).defineCommand(program)
  }
  return program
}
