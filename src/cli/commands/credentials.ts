import { readBinding, renderBinding } from '../binding-data.ts'
import type { CliCommand } from '../command.ts'
import { onBroker, type Session } from '../session.ts'

export function defineCommand(program: CliCommand): void {
  program
    .command('credentials')
    .instanceArgument()
    .bindingArgument()
    .description('print the credentials of a binding')
    .connectionOptions()
    .examples(
      'purser credentials my-db my-app',
      'purser credentials my-db my-app --output json | jq -r .credentials.uri',
    )
    .action(onBroker(showCredentials))
}

async function showCredentials(session: Session, instanceId: string, bindingId: string): Promise<void> {
  const { service_id, plan_id } = (await session.memory.recall(instanceId)) ?? {}
  const data = await readBinding(session, instanceId, bindingId, { service_id, plan_id })
  session.print({ instance_id: instanceId, binding_id: bindingId, ...data }, renderBinding(data))
}
