import { readCatalog } from '../catalog-lookup.ts'
import { checkId } from '../ids.ts'
import type { CliIo } from '../io.ts'
import type { LocateFlags } from '../locate-instance.ts'
import { locateInstance } from '../locate-instance.ts'
import type { RememberedInstance } from '../memory.ts'
import { renderFields, toFields } from '../render/fields.ts'
import type { ConnectionOptions } from '../session.ts'
import { openSession, present } from '../session.ts'
import type { WaitOptions } from '../settle.ts'
import { operationOf, readRequestTimeout, settle } from '../settle.ts'

export interface DeleteOptions extends ConnectionOptions, WaitOptions, LocateFlags {}

export async function runUnbind(io: CliIo, instance: string, binding: string, options: DeleteOptions): Promise<void> {
  const session = openSession(io, options, readRequestTimeout(options))
  const [instanceId, bindingId] = [checkId('instance', instance), checkId('binding', binding)]
  const { serviceId, planId, plan } = await locateInstance(session, await readCatalog(session), instanceId, options)
  const response = await session.client.unbind(
    instanceId,
    bindingId,
    { service_id: serviceId, plan_id: planId },
    { acceptsIncomplete: options.sync !== true },
  )
  const operation = operationOf(response)
  if (operation !== undefined) {
    await session.memory.change(
      instanceId,
      known => known && { ...known, bindings: { ...known.bindings, [bindingId]: { operation } } },
    )
  }
  const settled = await settle(
    session,
    {
      label: `unbind ${bindingId}`,
      target: { action: 'unbind', instanceId, bindingId, operation, serviceId, planId },
      plan,
    },
    response,
    options,
  )
  if (settled.state !== 'in progress')
    await session.memory.change(instanceId, known => known && without(known, bindingId))
  const result = present({ instance_id: instanceId, binding_id: bindingId, state: settled.state, operation })
  session.print(result, renderFields(toFields(result)))
}

function without(known: RememberedInstance, bindingId: string): RememberedInstance {
  const bindings = Object.entries(known.bindings).filter(([id]) => id !== bindingId)
  return { ...known, bindings: Object.fromEntries(bindings) }
}
