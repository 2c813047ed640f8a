import type { Command } from 'commander'
import type { CliIo } from '../io.ts'
import { addConnectionOptions, examples } from '../options.ts'
import type { ConnectionOptions } from '../session.ts'

export function defineChoresCommand(program: Command, io: CliIo): void {
  const chores = program
    .command('chores')
    .description('show and run the periodic upkeep of a broker')
    .addHelpText('after', examples('purser chores list', 'purser chores run sweep'))
  addConnectionOptions(chores.command('list').description('show every chore, its schedule and its latest run'))
    .addHelpText('after', examples('purser chores list', 'purser chores list --output json'))
    .action(async (options: ConnectionOptions) => {
      const { listChores } = await import('../verbs/chores.ts')
      await listChores(io, options)
    })
  addConnectionOptions(
    chores
      .command('run')
      .argument('<name>', 'name of the chore, also of one that is off')
      .description('run a chore now and wait until it has ended'),
  )
    .addHelpText('after', examples('purser chores run sweep', 'purser chores run clean-up-instances-all'))
    .action(async (name: string, options: ConnectionOptions) => {
      const { runChore } = await import('../verbs/chores.ts')
      await runChore(io, name, options)
    })
}
