import { requirePlan } from '../catalog-lookup.ts'
import { wrongUsage } from '../cli-error.ts'
import type { CliCommand } from '../command.ts'
import { type LocateFlags, locate, unknownIds } from '../locate-instance.ts'
import { type ParameterOptions, readParameters } from '../parameters.ts'
import { onBroker, type Session } from '../session.ts'
import { settle } from '../settle.ts'

/** Its plan is the one to change to. */
type UpdateOptions = ParameterOptions & LocateFlags

export function defineCommand(program: CliCommand): void {
  program
    .command('update')
    .instanceArgument()
    .description('change the plan or the parameters of an instance')
    .option('--plan <plan>', 'name or id of the plan to change to')
    .locateOptions()
    .parameterOptions()
    .changeOptions()
    .examples('purser update my-db --plan large', 'purser update my-db --param size=5')
    .action(onBroker(update))
}

async function update(session: Session, instanceId: string, options: UpdateOptions): Promise<void> {
  const input = await readParameters(options, session.io.cwd)
  if (input.parameters === undefined && input.context === undefined && options.plan === undefined)
    throw wrongUsage({
      what: 'there is nothing to update',
      why: 'neither a plan nor a parameter nor a context was given',
      next: 'Give --plan, --param key=value, --params or --context.',
    })
  // The plan of now is good to know but not needed; --plan is another one.
  const { ids, plan, offering } = await locate(session, instanceId, { service: options.service })
  const { service_id, plan_id } = ids
  if (service_id === undefined) throw unknownIds(instanceId, '--service')
  // A service that has left the catalog: the broker has to know the plan by what was typed.
  const target = offering && options.plan !== undefined ? requirePlan(offering, options.plan).id : options.plan

  const previous = plan_id === undefined ? undefined : { plan_id }
  const request = { service_id, plan_id: target, ...input, previous_values: previous }
  const response = await session.client.update(instanceId, request, session.callOptions)
  const change = { action: 'update', label: `update ${instanceId}`, instanceId, ids, plan } as const
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
