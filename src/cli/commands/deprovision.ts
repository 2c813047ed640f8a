import type { CliCommand } from '../command.ts'
import { type LocateFlags, locateInstance } from '../locate-instance.ts'
import { onBroker, type Session } from '../session.ts'
import { send, settle } from '../settle.ts'

export function defineCommand(program: CliCommand): void {
  program
    .command('deprovision')
    .instanceArgument()
    .description('remove an instance')
    .locateOptions()
    .changeOptions()
    .examples('purser deprovision my-db', 'purser deprovision my-db --service postgres --plan small')
    .action(onBroker(deprovision))
}

async function deprovision(session: Session, instanceId: string, flags: LocateFlags): Promise<void> {
  session.about.instance_id = instanceId
  const { ids, plan } = await locateInstance(session, instanceId, flags)
  const change = { action: 'deprovision', label: `deprovision ${instanceId}`, instanceId, ids, plan } as const
  const response = await send(session, change, call => session.client.deprovision(instanceId, ids, call))
  const { state, operation } = await settle(session, change, response)
  session.printFields({ instance_id: instanceId, state, operation })
}
