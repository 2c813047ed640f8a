import { readCatalog } from '../catalog-lookup.ts'
import { checkId } from '../ids.ts'
import type { CliIo } from '../io.ts'
import { locateInstance } from '../locate-instance.ts'
import { renderFields, toFields } from '../render/fields.ts'
import { openSession, present } from '../session.ts'
import { operationOf, readRequestTimeout, settle } from '../settle.ts'
import type { DeleteOptions } from './unbind.ts'

export async function runDeprovision(io: CliIo, instance: string, options: DeleteOptions): Promise<void> {
  const session = openSession(io, options, readRequestTimeout(options))
  const instanceId = checkId('instance', instance)
  const { serviceId, planId, plan } = await locateInstance(session, await readCatalog(session), instanceId, options)
  const response = await session.client.deprovision(
    instanceId,
    { service_id: serviceId, plan_id: planId },
    { acceptsIncomplete: options.sync !== true },
  )
  const operation = operationOf(response)
  if (response.status < 400) await session.memory.change(instanceId, known => known && { ...known, operation })
  const settled = await settle(
    session,
    {
      label: `deprovision ${instanceId}`,
      target: { action: 'deprovision', instanceId, operation, serviceId, planId },
      plan,
    },
    response,
    options,
  )
  if (settled.state !== 'in progress') await session.memory.change(instanceId, () => undefined)
  const result = present({ instance_id: instanceId, state: settled.state, operation })
  session.print(result, renderFields(toFields(result)))
}
