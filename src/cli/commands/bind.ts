import type { Command } from 'commander'
import type { CliIo } from '../io.ts'
import {
  addConnectionOptions,
  addLocateOptions,
  addParameterOptions,
  addWaitOptions,
  examples,
  locateHelp,
} from '../options.ts'
import type { BindOptions } from '../verbs/bind.ts'

export function defineBindCommand(program: Command, io: CliIo): void {
  const command = program
    .command('bind')
    .argument('<instance>', 'id of the instance')
    .description('make a binding and print its credentials')
    .option('--id <id>', 'id of the new binding (default: a random UUID, which is printed)')
    .option('--app <guid>', 'application to bind, for services that need one')
    .option('--rotate <binding>', 'make a successor of this binding, whose credentials stay valid beside the new ones')
  addConnectionOptions(addWaitOptions(addLocateOptions(addParameterOptions(command))))
    .addHelpText(
      'after',
      `${locateHelp}\n${examples(
        'purser bind my-db',
        'purser bind my-db --id my-app --param role=reader',
        'purser bind my-db --rotate my-app --id my-app-2',
        'purser bind my-db --output json | jq .credentials',
      )}`,
    )
    .action(async (instance: string, options: BindOptions) => {
      const { runBind } = await import('../verbs/bind.ts')
      await runBind(io, instance, options)
    })
}
