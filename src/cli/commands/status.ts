import type { Command } from 'commander'
import type { CliIo } from '../io.ts'
import { addConnectionOptions, examples } from '../options.ts'
import type { ConnectionOptions } from '../session.ts'

export function defineStatusCommand(program: Command, io: CliIo): void {
  const command = program
    .command('status')
    .argument('<instance>', 'id of the instance')
    .argument('[binding]', 'id of a binding of it')
    .description('show how the latest operation on an instance or a binding stands')
  addConnectionOptions(command)
    .addHelpText('after', examples('purser status my-db', 'purser status my-db my-app --output json'))
    .action(async (instance: string, binding: string | undefined, options: ConnectionOptions) => {
      const { runStatus } = await import('../verbs/status.ts')
      await runStatus(io, instance, binding, options)
    })
}
