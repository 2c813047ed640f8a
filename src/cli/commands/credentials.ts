import type { Command } from 'commander'
import { readBinding, renderBinding } from '../binding-data.ts'
import { checkId } from '../ids.ts'
import type { CliIo } from '../io.ts'
import { addConnectionOptions, examples } from '../options.ts'
import { type ConnectionOptions, openSession } from '../session.ts'

export function defineCommand(program: Command, io: CliIo): void {
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
    .action((instance: string, binding: string, options: ConnectionOptions) =>
      showCredentials(io, instance, binding, options),
    )
}

async function showCredentials(
  io: CliIo,
  instance: string,
  binding: string,
  options: ConnectionOptions,
): Promise<void> {
  const session = openSession(io, options)
  const [instanceId, bindingId] = [checkId('instance', instance), checkId('binding', binding)]
  const known = await session.memory.recall(instanceId)
  const query = { service_id: known?.service_id, plan_id: known?.plan_id }
  const data = await readBinding(session, instanceId, bindingId, query)
  session.print({ instance_id: instanceId, binding_id: bindingId, ...data }, renderBinding(data))
}
