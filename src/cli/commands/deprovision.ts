import type { Command } from 'commander'
import { checkId } from '../ids.ts'
import type { CliIo } from '../io.ts'
import { type LocateFlags, locateInstance } from '../locate-instance.ts'
import { addConnectionOptions, addLocateOptions, addWaitOptions, examples, locateHelp } from '../options.ts'
import { type ConnectionOptions, openSession, type WaitOptions } from '../session.ts'
import { operationOf, settle } from '../settle.ts'

type DeprovisionOptions = ConnectionOptions & WaitOptions & LocateFlags

export function defineCommand(program: Command, io: CliIo): void {
  const command = program
    .command('deprovision')
    .argument('<instance>', 'id of the instance')
    .description('remove an instance')
  addConnectionOptions(addWaitOptions(addLocateOptions(command)))
    .addHelpText(
      'after',
      `${locateHelp}\n${examples('purser deprovision my-db', 'purser deprovision my-db --service postgres --plan small')}`,
    )
    .action((instance: string, options: DeprovisionOptions) => deprovision(io, instance, options))
}

async function deprovision(io: CliIo, instance: string, options: DeprovisionOptions): Promise<void> {
  const session = openSession(io, options)
  const instanceId = checkId('instance', instance)
  const { serviceId, planId, plan } = await locateInstance(session, instanceId, options)
  const response = await session.client.deprovision(
    instanceId,
    { service_id: serviceId, plan_id: planId },
    { acceptsIncomplete: options.sync !== true },
  )
  const operation = operationOf(response)
  if (response.status < 400) await session.memory.change(instanceId, known => known && { ...known, operation })
  const label = `deprovision ${instanceId}`
  const request = { action: 'deprovision', label, instanceId, serviceId, planId, plan } as const
  const { state } = await settle(session, request, response, options)
  if (state !== 'in progress') await session.memory.change(instanceId, () => undefined)
  session.printFields({ instance_id: instanceId, state, operation })
}
