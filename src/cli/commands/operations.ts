import type { Command } from 'commander'
import type { CliIo } from '../io.ts'
import { addConnectionOptions, examples } from '../options.ts'
import type { ConnectionOptions } from '../session.ts'

export function defineOperationsCommand(program: Command, io: CliIo): void {
  const operations = program
    .command('operations')
    .description('look at the operations of a broker')
    .addHelpText('after', examples('purser operations log 0197a7c2-7f5e-7cc0-93a1-55d2e1a2b3c4'))
  addConnectionOptions(
    operations
      .command('log')
      .argument('<operation>', 'id of the operation, as the broker gave it with its 202')
      .description('print the end of what the bundle of an operation printed'),
  )
    .addHelpText('after', examples('purser operations log 0197a7c2-7f5e-7cc0-93a1-55d2e1a2b3c4'))
    .action(async (id: string, options: ConnectionOptions) => {
      const { showLog } = await import('../verbs/operations.ts')
      await showLog(io, id, options)
    })
}
