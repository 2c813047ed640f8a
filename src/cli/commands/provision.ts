import type { Command } from 'commander'
import type { Json } from '../../protocol/json.ts'
import { readCatalog, requireOffering, requirePlan } from '../catalog-lookup.ts'
import { chooseId } from '../ids.ts'
import type { CliIo } from '../io.ts'
import { addConnectionOptions, addParameterOptions, addWaitOptions, examples } from '../options.ts'
import { type ParameterOptions, readContext, readParameters } from '../parameters.ts'
import { type ConnectionOptions, openSession, type WaitOptions } from '../session.ts'
import { operationOf, settle } from '../settle.ts'

interface ProvisionOptions extends ConnectionOptions, WaitOptions, ParameterOptions {
  readonly id?: string
}

export function defineCommand(program: Command, io: CliIo): void {
  const command = program
    .command('provision')
    .argument('<service>', 'name or id of the service')
    .argument('<plan>', 'name or id of the plan')
    .description('make an instance and wait until it is ready')
    .option('--id <id>', 'id of the new instance (default: a random UUID, which is printed)')
  addConnectionOptions(addWaitOptions(addParameterOptions(command)))
    .addHelpText(
      'after',
      `
The ids of the instance are remembered in .purser/cli.json in the current folder, so that later
commands need no --service and --plan; parameters and credentials never are.
${examples(
  'purser provision postgres small',
  'purser provision postgres small --param size=3 --param backup.daily=true',
  'purser provision postgres small --params @parameters.json --id my-db --no-wait',
)}`,
    )
    .action((service: string, plan: string, options: ProvisionOptions) => provision(io, service, plan, options))
}

/** Stands for the platform, the organization and the space: OSB wants all three with every instance (PROV-06). */
const ownName = 'purser-cli'

async function provision(io: CliIo, service: string, planName: string, options: ProvisionOptions): Promise<void> {
  const session = openSession(io, options)
  const instanceId = chooseId('instance', options.id)
  const parameters = await readParameters(options, io.cwd)
  const context = (await readContext(options, io.cwd)) ?? { platform: ownName }
  const offering = requireOffering(await readCatalog(session), service)
  const plan = requirePlan(offering, planName)
  const ids = { service_id: offering.id, plan_id: plan.id }

  // Remembered and printed before the broker can act, so that the id is not lost if this process is.
  const known = await session.memory.recall(instanceId)
  await session.memory.change(instanceId, before => ({ bindings: {}, ...before, ...ids, operation: undefined }))
  session.note(`instance ${instanceId}`)
  const response = await session.client.provision(
    instanceId,
    {
      ...ids,
      organization_guid: textOr(context.organization_guid),
      space_guid: textOr(context.space_guid),
      context,
      parameters,
    },
    { acceptsIncomplete: options.sync !== true },
  )
  // A 4xx changed nothing at the broker (ERR-08).
  if (response.status >= 400 && response.status < 500) await session.memory.change(instanceId, () => known)
  const { dashboard_url, metadata } = response.body
  const operation = operationOf(response)
  if (operation !== undefined) await session.memory.change(instanceId, before => before && { ...before, operation })

  const label = `provision ${offering.name}/${plan.name}`
  const request = { action: 'provision', label, instanceId, serviceId: offering.id, planId: plan.id, plan } as const
  const { state } = await settle(session, request, response, options)
  session.printFields({
    instance_id: instanceId,
    service: offering.name,
    plan: plan.name,
    ...ids,
    state,
    dashboard_url,
    operation,
    metadata: metadata && { ...metadata },
  })
}

function textOr(value: Json | undefined): string {
  return typeof value === 'string' && value !== '' ? value : ownName
}
