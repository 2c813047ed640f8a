import { Command, CommanderError } from 'commander'
import { defineBindCommand } from './commands/bind.ts'
import { defineBundleCommand } from './commands/bundle.ts'
import { defineCatalogCommand } from './commands/catalog.ts'
import { defineChoresCommand } from './commands/chores.ts'
import { defineCredentialsCommand } from './commands/credentials.ts'
import { defineDeprovisionCommand } from './commands/deprovision.ts'
import { defineHashPasswordCommand } from './commands/hash-password.ts'
import { defineInitCommand } from './commands/init.ts'
import { defineMigrateCommand } from './commands/migrate.ts'
import { defineOperationsCommand } from './commands/operations.ts'
import { defineProvisionCommand } from './commands/provision.ts'
import { defineRegistriesCommand } from './commands/registries.ts'
import { defineServeCommand } from './commands/serve.ts'
import { defineStatusCommand } from './commands/status.ts'
import { defineUnbindCommand } from './commands/unbind.ts'
import { defineUpdateCommand } from './commands/update.ts'
import { describeError } from './describe-error.ts'
import type { CliIo } from './io.ts'
import { hasColor, processIo } from './io.ts'
import { examples } from './options.ts'
import { packageVersion } from './package-info.ts'
import { createStyle } from './render/style.ts'

/** Runs one command; `args` come without the names of node and of the script. Resolves to the exit code. */
export async function main(args: readonly string[], io: CliIo): Promise<number> {
  try {
    await createProgram(io).parseAsync([...args], { from: 'user' })
    return 0
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    const { text, exitCode } = describeError(error, createStyle(hasColor(io)))
    io.stderr.write(text)
    return exitCode
  }
}

/** The command as a process. */
export async function run(): Promise<void> {
  const args = process.argv.slice(2)
  // A reader that has seen enough, such as head, is no error; a broker goes on without one.
  process.stdout.on('error', error => {
    if (!('code' in error) || error.code !== 'EPIPE') throw error
    if (args[0] !== 'serve') process.exit()
  })
  process.exitCode = await main(args, processIo())
}

function createProgram(io: CliIo): Command {
  const program = new Command('purser')
    .description('An Open Service Broker, and the tools around it.')
    .version(packageVersion(), '-v, --version', 'print the version')
    .exitOverride()
    .configureOutput({
      writeOut: text => io.stdout.write(text),
      writeErr: text => io.stderr.write(text),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .addHelpText(
      'after',
      `${examples(
        'purser init my-broker',
        'purser serve broker.mjs',
        'purser catalog',
        'purser provision notes small',
      )}\n\npurser help <command> shows the options and examples of a command.`,
    )
  program.commandsGroup('Brokers:')
  defineServeCommand(program, io)
  defineInitCommand(program, io)
  defineHashPasswordCommand(program, io)
  defineMigrateCommand(program, io)
  program.commandsGroup("A platform's verbs, against any broker:")
  defineCatalogCommand(program, io)
  defineProvisionCommand(program, io)
  defineUpdateCommand(program, io)
  defineBindCommand(program, io)
  defineCredentialsCommand(program, io)
  defineUnbindCommand(program, io)
  defineDeprovisionCommand(program, io)
  defineStatusCommand(program, io)
  program.commandsGroup('Upkeep, for operators of a Purser broker:')
  defineChoresCommand(program, io)
  defineRegistriesCommand(program, io)
  defineOperationsCommand(program, io)
  program.commandsGroup('Bundles, for their authors:')
  defineBundleCommand(program, io)
  return program
}
