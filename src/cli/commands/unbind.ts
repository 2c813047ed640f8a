import type { Command } from 'commander'
import { checkId } from '../ids.ts'
import type { CliIo } from '../io.ts'
import { type LocateFlags, locateInstance } from '../locate-instance.ts'
import { addConnectionOptions, addLocateOptions, addWaitOptions, examples, locateHelp } from '../options.ts'
import { type ConnectionOptions, openSession, type WaitOptions } from '../session.ts'
import { operationOf, settle } from '../settle.ts'

type UnbindOptions = ConnectionOptions & WaitOptions & LocateFlags

export function defineCommand(program: Command, io: CliIo): void {
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
    .action((instance: string, binding: string, options: UnbindOptions) => unbind(io, instance, binding, options))
}

async function unbind(io: CliIo, instance: string, binding: string, options: UnbindOptions): Promise<void> {
  const session = openSession(io, options)
  const [instanceId, bindingId] = [checkId('instance', instance), checkId('binding', binding)]
  const { serviceId, planId, plan } = await locateInstance(session, instanceId, options)
  const response = await session.client.unbind(
    instanceId,
    bindingId,
    { service_id: serviceId, plan_id: planId },
    { acceptsIncomplete: options.sync !== true },
  )
  const operation = operationOf(response)
  if (operation !== undefined) await session.memory.rememberBinding(instanceId, bindingId, operation)
  const label = `unbind ${bindingId}`
  const request = { action: 'unbind', label, instanceId, bindingId, serviceId, planId, plan } as const
  const { state } = await settle(session, request, response, options)
  if (state !== 'in progress') await session.memory.forgetBinding(instanceId, bindingId)
  session.printFields({ instance_id: instanceId, binding_id: bindingId, state, operation })
}
