import type { Command } from 'commander'
import type { BindingData } from '../../client/index.ts'
import { readBinding, renderBinding, toBindingData } from '../binding-data.ts'
import { checkId, chooseId } from '../ids.ts'
import type { CliIo } from '../io.ts'
import { type LocateFlags, locateInstance } from '../locate-instance.ts'
import {
  addConnectionOptions,
  addLocateOptions,
  addParameterOptions,
  addWaitOptions,
  examples,
  locateHelp,
} from '../options.ts'
import { type ParameterOptions, readContext, readParameters } from '../parameters.ts'
import { renderFields, toFields, withoutNull } from '../render/fields.ts'
import { type ConnectionOptions, openSession, type WaitOptions } from '../session.ts'
import { operationOf, settle } from '../settle.ts'

interface BindOptions extends ConnectionOptions, WaitOptions, ParameterOptions, LocateFlags {
  readonly id?: string
  readonly app?: string
  readonly rotate?: string
}

export function defineCommand(program: Command, io: CliIo): void {
  const command = program
    .command('bind')
    .argument('<instance>', 'id of the instance')
    .description('make a binding and print its credentials')
    .option('--id <id>', 'id of the new binding (default: a random UUID, which is printed)')
    .option('--app <guid>', 'application to bind, for services that need one')
    .option('--rotate <binding>', 'make a successor of this binding, whose credentials stay valid beside the new ones')
  addConnectionOptions(addWaitOptions(addLocateOptions(addParameterOptions(command))))
    .addHelpText(
      'after',
      `${locateHelp}\n${examples(
        'purser bind my-db',
        'purser bind my-db --id my-app --param role=reader',
        'purser bind my-db --rotate my-app --id my-app-2',
        'purser bind my-db --output json | jq .credentials',
      )}`,
    )
    .action((instance: string, options: BindOptions) => bind(io, instance, options))
}

async function bind(io: CliIo, instance: string, options: BindOptions): Promise<void> {
  const session = openSession(io, options)
  const instanceId = checkId('instance', instance)
  const bindingId = chooseId('binding', options.id)
  const parameters = await readParameters(options, io.cwd)
  const context = await readContext(options, io.cwd)
  const { serviceId, planId, plan } = await locateInstance(session, instanceId, options)
  const ids = { service_id: serviceId, plan_id: planId }

  session.note(`binding ${bindingId}`)
  const response = await session.client.bind(
    instanceId,
    bindingId,
    {
      ...ids,
      parameters,
      context,
      bind_resource: options.app === undefined ? undefined : { app_guid: options.app },
      predecessor_binding_id: options.rotate,
    },
    { acceptsIncomplete: options.sync !== true },
  )
  const operation = operationOf(response)
  if (response.status < 400) await session.memory.rememberBinding(instanceId, bindingId, operation)
  const request = {
    action: 'bind',
    label: `bind ${instanceId}`,
    instanceId,
    bindingId,
    serviceId,
    planId,
    plan,
  } as const
  const { state, asynchronous } = await settle(session, request, response, options)
  let data: BindingData | undefined
  if (state !== 'in progress')
    data = asynchronous ? await readBinding(session, instanceId, bindingId, ids) : toBindingData(response.body)
  const head = withoutNull({ instance_id: instanceId, binding_id: bindingId, state, operation })
  const text = renderFields(toFields(head))
  session.print({ ...head, ...data }, data === undefined ? text : `${text}\n${renderBinding(data)}`)
}
