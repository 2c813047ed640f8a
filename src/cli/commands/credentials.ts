import type { Command } from 'commander'
import type { CliIo } from '../io.ts'
import { addConnectionOptions, examples } from '../options.ts'
import type { ConnectionOptions } from '../session.ts'

export function defineCredentialsCommand(program: Command, io: CliIo): void {
  const command = program
    .command('credentials')
    .argument('<instance>', 'id of the instance')
    .argument('<binding>', 'id of the binding')
    .description('print the credentials of a binding')
  addConnectionOptions(command)
    .addHelpText(
      'after',
      examples(
        'purser credentials my-db my-app',
        'purser credentials my-db my-app --output json | jq -r .credentials.uri',
      ),
    )
    .action(async (instance: string, binding: string, options: ConnectionOptions) => {
      const { runCredentials } = await import('../verbs/credentials.ts')
      await runCredentials(io, instance, binding, options)
    })
}
