import type { Command } from 'commander'
import type { CliIo } from '../io.ts'
import { addConnectionOptions, addParameterOptions, addWaitOptions, examples, locateHelp } from '../options.ts'
import type { UpdateOptions } from '../verbs/update.ts'

export function defineUpdateCommand(program: Command, io: CliIo): void {
  const command = program
    .command('update')
    .argument('<instance>', 'id of the instance')
    .description('change the plan or the parameters of an instance')
    .option('--plan <plan>', 'name or id of the plan to change to')
    .option('--service <service>', "the instance's service, by name or id, where it is not known (see below)")
  addConnectionOptions(addWaitOptions(addParameterOptions(command)))
    .addHelpText(
      'after',
      `${locateHelp}\n${examples('purser update my-db --plan large', 'purser update my-db --param size=5')}`,
    )
    .action(async (instance: string, options: UpdateOptions) => {
      const { runUpdate } = await import('../verbs/update.ts')
      await runUpdate(io, instance, options)
    })
}
