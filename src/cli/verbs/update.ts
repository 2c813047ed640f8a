import type { WireOffering } from '../../client/index.ts'
import { readCatalog, requirePlan } from '../catalog-lookup.ts'
import { wrongUsage } from '../cli-error.ts'
import { checkId } from '../ids.ts'
import type { CliIo } from '../io.ts'
import { locateForUpdate } from '../locate-instance.ts'
import type { ParameterOptions } from '../parameters.ts'
import { readJsonOption, readParameters } from '../parameters.ts'
import { renderFields, toFields } from '../render/fields.ts'
import type { ConnectionOptions } from '../session.ts'
import { openSession, present } from '../session.ts'
import type { WaitOptions } from '../settle.ts'
import { operationOf, readRequestTimeout, settle } from '../settle.ts'

export interface UpdateOptions extends ConnectionOptions, WaitOptions, ParameterOptions {
  readonly service?: string
  /** The plan to change to. */
  readonly plan?: string
  readonly context?: string
}

export async function runUpdate(io: CliIo, instance: string, options: UpdateOptions): Promise<void> {
  const session = openSession(io, options, readRequestTimeout(options))
  const instanceId = checkId('instance', instance)
  const parameters = await readParameters(options, io.cwd)
  const context = options.context === undefined ? undefined : await readJsonOption('--context', options.context, io.cwd)
  if (parameters === undefined && context === undefined && options.plan === undefined) {
    throw wrongUsage({
      what: 'there is nothing to update',
      why: 'neither a plan nor a parameter nor a context was given',
      next: 'Give --plan, --param key=value, --params or --context.',
    })
  }
  const catalog = await readCatalog(session)
  const located = await locateForUpdate(session, catalog, instanceId, options.service)
  const target = options.plan === undefined ? undefined : targetPlan(located.offering, options.plan)

  const response = await session.client.update(
    instanceId,
    {
      service_id: located.serviceId,
      plan_id: target?.id,
      parameters,
      context,
      ...(located.planId === undefined ? {} : { previous_values: { plan_id: located.planId } }),
    },
    { acceptsIncomplete: options.sync !== true },
  )
  const { dashboard_url, metadata } = response.body
  const operation = operationOf(response)
  if (response.status < 400) await session.memory.change(instanceId, known => known && { ...known, operation })

  const settled = await settle(
    session,
    {
      label: `update ${instanceId}`,
      target: { action: 'update', instanceId, operation, serviceId: located.serviceId, planId: located.planId },
      plan: located.plan,
    },
    response,
    options,
  )
  if (target !== undefined && settled.state === 'succeeded') {
    await session.memory.change(instanceId, known => known && { ...known, plan_id: target.id })
  }
  const result = present({
    instance_id: instanceId,
    service_id: located.serviceId,
    plan_id: target?.id ?? located.planId,
    state: settled.state,
    dashboard_url,
    operation,
    metadata: metadata === undefined ? undefined : { ...metadata },
  })
  session.print(result, renderFields(toFields(result)))
}

/** Without the offering (it has left the catalog) the broker has to know the plan by what was typed. */
function targetPlan(offering: WireOffering | undefined, plan: string): { readonly id: string } {
  return offering === undefined ? { id: plan } : requirePlan(offering, plan)
}
