import type { JsonObject } from '../../protocol/json.ts'
import { readCatalog, requireOffering, requirePlan } from '../catalog-lookup.ts'
import { chooseId } from '../ids.ts'
import type { CliIo } from '../io.ts'
import type { ParameterOptions } from '../parameters.ts'
import { readJsonOption, readParameters } from '../parameters.ts'
import { renderFields, toFields } from '../render/fields.ts'
import type { ConnectionOptions } from '../session.ts'
import { openSession, present } from '../session.ts'
import type { WaitOptions } from '../settle.ts'
import { operationOf, readRequestTimeout, settle } from '../settle.ts'

export interface ProvisionOptions extends ConnectionOptions, WaitOptions, ParameterOptions {
  readonly id?: string
  readonly context?: string
}

export async function runProvision(io: CliIo, service: string, plan: string, options: ProvisionOptions): Promise<void> {
  const session = openSession(io, options, readRequestTimeout(options))
  const instanceId = chooseId('instance', options.id)
  const parameters = await readParameters(options, io.cwd)
  const context = await readContext(options.context, io.cwd)
  const offering = requireOffering(await readCatalog(session), service)
  const chosen = requirePlan(offering, plan)
  const ids = { service_id: offering.id, plan_id: chosen.id }

  // Known and said before the broker can act, so that nothing is lost when this process is.
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
  if (operation !== undefined) {
    await session.memory.change(instanceId, before => before && { ...before, operation })
  }

  const settled = await settle(
    session,
    {
      label: `provision ${offering.name}/${chosen.name}`,
      target: { action: 'provision', instanceId, operation, serviceId: offering.id, planId: chosen.id },
      plan: chosen,
    },
    response,
    options,
  )
  const result = present({
    instance_id: instanceId,
    service: offering.name,
    plan: chosen.name,
    ...ids,
    state: settled.state,
    dashboard_url,
    operation,
    metadata: metadata === undefined ? undefined : { ...metadata },
  })
  session.print(result, renderFields(toFields(result)))
}

/** Who asks, where no platform does: OSB wants a platform, an organization and a space with every instance (PROV-06). */
const ownName = 'purser-cli'

async function readContext(given: string | undefined, cwd: string): Promise<JsonObject> {
  return given === undefined ? { platform: ownName } : readJsonOption('--context', given, cwd)
}

function textOr(value: JsonObject[string]): string {
  return typeof value === 'string' && value !== '' ? value : ownName
}
