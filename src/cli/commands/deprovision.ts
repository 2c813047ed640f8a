import type { Command } from 'commander'
import type { CliIo } from '../io.ts'
import { addConnectionOptions, addLocateOptions, addWaitOptions, examples, locateHelp } from '../options.ts'
import type { DeleteOptions } from '../verbs/unbind.ts'

export function defineDeprovisionCommand(program: Command, io: CliIo): void {
  const command = program
    .command('deprovision')
    .argument('<instance>', 'id of the instance')
    .description('remove an instance')
  addConnectionOptions(addWaitOptions(addLocateOptions(command)))
    .addHelpText(
      'after',
      `${locateHelp}\n${examples('purser deprovision my-db', 'purser deprovision my-db --service postgres --plan small')}`,
    )
    .action(async (instance: string, options: DeleteOptions) => {
      const { runDeprovision } = await import('../verbs/deprovision.ts')
      await runDeprovision(io, instance, options)
    })
}
