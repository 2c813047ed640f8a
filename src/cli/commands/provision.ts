import { randomUUID } from 'node:crypto'
import type { Json } from '../../protocol/json.ts'
import { readCatalog, requireOffering, requirePlan } from '../catalog-lookup.ts'
import { type CliCommand, parseInstanceId } from '../command.ts'
import { type ParameterOptions, readParameters } from '../parameters.ts'
import { onBroker, type Session } from '../session.ts'
import { send, settle } from '../settle.ts'

type ProvisionOptions = ParameterOptions & { readonly id?: string }

export function defineCommand(program: CliCommand): void {
  program
    .command('provision')
    .argument('<service>', 'name or id of the service')
    .argument('<plan>', 'name or id of the plan')
    .description('make an instance and wait until it is ready')
    .option('--id <id>', 'id of the new instance (default: a random UUID, which is printed)', parseInstanceId)
    .parameterOptions()
    .changeOptions()
    .explain(
      'The ids of the instance are remembered in .purser/cli.json in the current folder, so that later',
      'commands need no --service and --plan; parameters and credentials never are.',
    )
    .examples(
      'purser provision postgres small',
      'purser provision postgres small --param size=3 --param backup.daily=true',
      'purser provision postgres small --params @parameters.json --id my-db --no-wait',
    )
    .action(onBroker(provision))
}

/** Stands for the platform, the organization and the space: OSB wants all three with every instance (PROV-06). */
const ownName = 'purser-cli'

async function provision(session: Session, service: string, planName: string, options: ProvisionOptions) {
  const { client, memory } = session
  const { id: instanceId = randomUUID() } = options
  const { context = { platform: ownName }, typedBy } = await readParameters(options, session.io.cwd)
  const offering = requireOffering(await readCatalog(session), service)
  const plan = requirePlan(offering, planName)
  const ids = { service_id: offering.id, plan_id: plan.id }
  const parameters = await typedBy(plan.schemas?.service_instance?.create?.parameters)

  // Remembered and printed before the broker can act, so that the id is not lost if this process is.
  const known = await memory.recall(instanceId)
  await memory.change(instanceId, before => ({ bindings: {}, ...before, ...ids, operation: undefined }))
  session.note(`instance ${instanceId}`)
  session.about.instance_id = instanceId
  const organization_guid = textOr(context.organization_guid)
  const space_guid = textOr(context.space_guid)
  const request = { ...ids, organization_guid, space_guid, context, parameters }
  const label = `provision ${offering.name}/${plan.name}`
  const change = { action: 'provision', label, instanceId, ids, plan } as const
  const response = await send(session, change, call => client.provision(instanceId, request, call))
  // A 4xx changed nothing at the broker (ERR-08).
  if (response.status >= 400 && response.status < 500) await memory.change(instanceId, () => known)

  const { state, operation } = await settle(session, change, response)
  const { dashboard_url, metadata } = response.body
  session.printFields({
    instance_id: instanceId,
    service: offering.name,
    plan: plan.name,
    ...ids,
    state,
    dashboard_url,
    operation,
    metadata,
  })
}

function textOr(value: Json | undefined): string {
  return typeof value === 'string' && value !== '' ? value : ownName
}
