import type { Command } from 'commander'
import { requirePlan } from '../catalog-lookup.ts'
import { wrongUsage } from '../cli-error.ts'
import { checkId } from '../ids.ts'
import type { CliIo } from '../io.ts'
import { locateForUpdate } from '../locate-instance.ts'
import { addConnectionOptions, addParameterOptions, addWaitOptions, examples, locateHelp } from '../options.ts'
import { type ParameterOptions, readContext, readParameters } from '../parameters.ts'
import { type ConnectionOptions, openSession, type WaitOptions } from '../session.ts'
import { operationOf, settle } from '../settle.ts'

interface UpdateOptions extends ConnectionOptions, WaitOptions, ParameterOptions {
  readonly service?: string
  /** The plan to change to. */
  readonly plan?: string
}

export function defineCommand(program: Command, io: CliIo): void {
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
    .action((instance: string, options: UpdateOptions) => update(io, instance, options))
}

async function update(io: CliIo, instance: string, options: UpdateOptions): Promise<void> {
  const session = openSession(io, options)
  const instanceId = checkId('instance', instance)
  const parameters = await readParameters(options, io.cwd)
  const context = await readContext(options, io.cwd)
  if (parameters === undefined && context === undefined && options.plan === undefined)
    throw wrongUsage({
      what: 'there is nothing to update',
      why: 'neither a plan nor a parameter nor a context was given',
      next: 'Give --plan, --param key=value, --params or --context.',
    })
  const { serviceId, planId, plan, offering } = await locateForUpdate(session, instanceId, options.service)
  // A service that has left the catalog: the broker has to know the plan by what was typed.
  const target = offering && options.plan !== undefined ? requirePlan(offering, options.plan).id : options.plan

  const response = await session.client.update(
    instanceId,
    {
      service_id: serviceId,
      plan_id: target,
      parameters,
      context,
      previous_values: planId === undefined ? undefined : { plan_id: planId },
    },
    { acceptsIncomplete: options.sync !== true },
  )
  const { dashboard_url, metadata } = response.body
  const operation = operationOf(response)
  if (response.status < 400) await session.memory.change(instanceId, known => known && { ...known, operation })

  const request = { action: 'update', label: `update ${instanceId}`, instanceId, serviceId, planId, plan } as const
  const { state } = await settle(session, request, response, options)
  if (target !== undefined && state === 'succeeded')
    await session.memory.change(instanceId, known => known && { ...known, plan_id: target })
  session.printFields({
    instance_id: instanceId,
    service_id: serviceId,
    plan_id: target ?? planId,
    state,
    dashboard_url,
    operation,
    metadata: metadata && { ...metadata },
  })
}
