import type { BindingData } from '../../client/index.ts'
import { readBinding, renderBinding, toBindingData } from '../binding-data.ts'
import { readCatalog } from '../catalog-lookup.ts'
import { checkId, chooseId } from '../ids.ts'
import type { CliIo } from '../io.ts'
import type { LocateFlags } from '../locate-instance.ts'
import { locateInstance } from '../locate-instance.ts'
import type { ParameterOptions } from '../parameters.ts'
import { readJsonOption, readParameters } from '../parameters.ts'
import { renderFields, toFields } from '../render/fields.ts'
import type { ConnectionOptions } from '../session.ts'
import { openSession, present } from '../session.ts'
import type { WaitOptions } from '../settle.ts'
import { operationOf, readRequestTimeout, settle } from '../settle.ts'

export interface BindOptions extends ConnectionOptions, WaitOptions, ParameterOptions, LocateFlags {
  readonly id?: string
  readonly context?: string
  readonly app?: string
  readonly rotate?: string
}

export async function runBind(io: CliIo, instance: string, options: BindOptions): Promise<void> {
  const session = openSession(io, options, readRequestTimeout(options))
  const instanceId = checkId('instance', instance)
  const bindingId = chooseId('binding', options.id)
  const parameters = await readParameters(options, io.cwd)
  const context = options.context === undefined ? undefined : await readJsonOption('--context', options.context, io.cwd)
  const { serviceId, planId, plan } = await locateInstance(session, await readCatalog(session), instanceId, options)

  session.note(`binding ${bindingId}`)
  const response = await session.client.bind(
    instanceId,
    bindingId,
    {
      service_id: serviceId,
      plan_id: planId,
      parameters,
      context,
      ...(options.app === undefined ? {} : { bind_resource: { app_guid: options.app } }),
      predecessor_binding_id: options.rotate,
    },
    { acceptsIncomplete: options.sync !== true },
  )
  const operation = operationOf(response)
  if (response.status < 400) {
    await session.memory.change(
      instanceId,
      known => known && { ...known, bindings: { ...known.bindings, [bindingId]: { operation } } },
    )
  }
  const settled = await settle(
    session,
    {
      label: `bind ${instanceId}`,
      target: { action: 'bind', instanceId, bindingId, operation, serviceId, planId },
      plan,
    },
    response,
    options,
  )
  const data: BindingData | undefined =
    settled.state === 'in progress'
      ? undefined
      : settled.asynchronous
        ? await readBinding(session, instanceId, bindingId, { service_id: serviceId, plan_id: planId })
        : toBindingData(response.body)
  const head = present({ instance_id: instanceId, binding_id: bindingId, state: settled.state, operation })
  session.print(
    { ...head, ...data },
    `${renderFields(toFields(head))}${data === undefined ? '' : `\n${renderBinding(data)}`}`,
  )
}
