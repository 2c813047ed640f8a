import type { CliCommand } from '../command.ts'
import { type LocateFlags, locateInstance } from '../locate-instance.ts'
import { onBroker, type Session } from '../session.ts'
import { send, settle } from '../settle.ts'

export function defineCommand(program: CliCommand): void {
  program
    .command('unbind')
    .instanceArgument()
    .bindingArgument()
    .description('remove a binding')
    .locateOptions()
    .changeOptions()
    .examples('purser unbind my-db my-app', 'purser unbind my-db my-app --service postgres --plan small')
    .action(onBroker(unbind))
}

async function unbind(session: Session, instanceId: string, bindingId: string, flags: LocateFlags): Promise<void> {
  Object.assign(session.about, { instance_id: instanceId, binding_id: bindingId })
  const { ids, plan } = await locateInstance(session, instanceId, flags)
  const change = { action: 'unbind', label: `unbind ${bindingId}`, instanceId, bindingId, ids, plan } as const
  const response = await send(session, change, call => session.client.unbind(instanceId, bindingId, ids, call))
  const { state, operation } = await settle(session, change, response)
  session.printFields({ instance_id: instanceId, binding_id: bindingId, state, operation })
}
