import type { Command } from 'commander'
import type { CliIo } from '../io.ts'
import { addConnectionOptions, addLocateOptions, addWaitOptions, examples, locateHelp } from '../options.ts'
import type { DeleteOptions } from '../verbs/unbind.ts'

export function defineUnbindCommand(program: Command, io: CliIo): void {
  const command = program
    .command('unbind')
    .argument('<instance>', 'id of the instance')
    .argument('<binding>', 'id of the binding')
    .description('remove a binding')
  addConnectionOptions(addWaitOptions(addLocateOptions(command)))
    .addHelpText(
      'after',
      `${locateHelp}\n${examples('purser unbind my-db my-app', 'purser unbind my-db my-app --service postgres --plan small')}`,
    )
    .action(async (instance: string, binding: string, options: DeleteOptions) => {
      const { runUnbind } = await import('../verbs/unbind.ts')
      await runUnbind(io, instance, binding, options)
    })
}
