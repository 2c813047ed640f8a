import type { WirePlan } from '../../client/index.ts'
import { requirePlan } from '../catalog-lookup.ts'
import { wrongUsage } from '../cli-error.ts'
import type { CliCommand } from '../command.ts'
import { type LocateFlags, locate, unknownIds } from '../locate-instance.ts'
import { type ParameterOptions, readParameters } from '../parameters.ts'
import { onBroker, type Session } from '../session.ts'
import { send, settle } from '../settle.ts'

/** Its plan is the one to change to. */
type UpdateOptions = ParameterOptions & LocateFlags & { readonly upgrade?: boolean }

export function defineCommand(program: CliCommand): void {
  program
    .command('update')
    .instanceArgument()
    .description('change the plan or the parameters of an instance, or upgrade it')
    .option('--plan <plan>', 'name or id of the plan to change to')
    .option('--upgrade', "bring the instance to its plan's maintenance version in the catalog")
    .locateOptions()
    .parameterOptions()
    .changeOptions()
    .examples('purser update my-db --plan large', 'purser update my-db --param size=5', 'purser update my-db --upgrade')
    .action(onBroker(update))
}

async function update(session: Session, instanceId: string, options: UpdateOptions): Promise<void> {
  const { upgrade = false } = options
  const { parameters, context, typedBy } = await readParameters(options, session.io.cwd)
  if (!upgrade && [parameters, context, options.plan].every(given => given === undefined))
    throw wrongUsage({
      what: 'there is nothing to update',
      why: 'neither a plan nor a parameter nor a context was given, nor --upgrade',
      next: 'Give --plan, --param key=value, --params, --context or --upgrade.',
    })
  session.about.instance_id = instanceId
  // The plan of now is good to know but not needed; --plan is another one.
  const { ids, plan, offering } = await locate(session, instanceId, { service: options.service })
  const { service_id, plan_id } = ids
  if (service_id === undefined) throw unknownIds(instanceId, '--service')
  // A service that has left the catalog: the broker has to know the plan by what was typed.
  const next = offering && options.plan !== undefined ? requirePlan(offering, options.plan) : undefined
  const target = next?.id ?? options.plan
  const wanted = options.plan === undefined ? plan : next

  const schemas = wanted?.schemas?.service_instance
  const request = {
    service_id,
    plan_id: target,
    context,
    // A catalog that says nothing about updates still says of which types the parameters are.
    parameters: await typedBy((schemas?.update ?? schemas?.create)?.parameters),
    maintenance_info: upgrade ? requireMaintenance(instanceId, wanted) : undefined,
    previous_values: plan_id === undefined ? undefined : { plan_id },
  }
  const change = { action: 'update', label: `update ${instanceId}`, instanceId, ids, plan } as const
  const response = await send(session, change, call => session.client.update(instanceId, request, call))
  const { state, operation } = await settle(session, change, response)
  if (target !== undefined && state === 'succeeded')
    await session.memory.change(instanceId, known => known && { ...known, plan_id: target })
  const { dashboard_url, metadata } = response.body
  session.printFields({
    instance_id: instanceId,
    service_id,
    plan_id: target ?? plan_id,
    state,
    dashboard_url,
    operation,
    metadata,
  })
}

/** What the catalog says now: the version alone, without its description. */
function requireMaintenance(instanceId: string, plan: WirePlan | undefined) {
  const { version } = plan?.maintenance_info ?? {}
  if (version !== undefined) return { version }
  throw wrongUsage({
    what: `instance ${instanceId} cannot be upgraded`,
    why:
      plan === undefined
        ? 'its plan is not known, or no longer in the catalog'
        : `the catalog has no maintenance version for its plan ${plan.name}`,
    next: 'Leave --upgrade off, or change to a plan that has one with --plan (purser catalog --output json shows them).',
  })
}
