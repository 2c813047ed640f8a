import { randomUUID } from 'node:crypto'
import { readBinding, renderBinding, toBindingData } from '../binding-data.ts'
import { type CliCommand, parseBindingId } from '../command.ts'
import { type LocateFlags, locateInstance } from '../locate-instance.ts'
import { type ParameterOptions, readParameters } from '../parameters.ts'
import { renderFields, withoutNull } from '../render/fields.ts'
import { onBroker, type Session } from '../session.ts'
import { send, settle } from '../settle.ts'

interface BindOptions extends ParameterOptions, LocateFlags {
  readonly id?: string
  readonly app?: string
  readonly rotate?: string
}

export function defineCommand(program: CliCommand): void {
  program
    .command('bind')
    .instanceArgument()
    .description('make a binding and print its credentials')
    .option('--id <id>', 'id of the new binding (default: a random UUID, which is printed)', parseBindingId)
    .option('--app <guid>', 'application to bind, for services that need one')
    .option('--rotate <binding>', 'make a successor of this binding, whose credentials stay valid beside the new ones')
    .parameterOptions()
    .locateOptions()
    .changeOptions()
    .examples(
      'purser bind my-db',
      'purser bind my-db --id my-app --param role=reader',
      'purser bind my-db --rotate my-app --id my-app-2',
      'purser bind my-db --output json | jq .credentials',
    )
    .action(onBroker(bind))
}

async function bind(session: Session, instanceId: string, options: BindOptions): Promise<void> {
  const { id: bindingId = randomUUID(), app, rotate } = options
  const { context, typedBy } = await readParameters(options, session.io.cwd)
  const { ids, plan } = await locateInstance(session, instanceId, options)

  session.note(`binding ${bindingId}`)
  Object.assign(session.about, { instance_id: instanceId, binding_id: bindingId })
  const bindResource = app === undefined ? undefined : { app_guid: app }
  const parameters = await typedBy(plan?.schemas?.service_binding?.create?.parameters)
  const request = { ...ids, context, parameters, bind_resource: bindResource, predecessor_binding_id: rotate }
  const change = { action: 'bind', label: `bind ${instanceId}`, instanceId, bindingId, ids, plan } as const
  const response = await send(session, change, call => session.client.bind(instanceId, bindingId, request, call))
  const { state, operation } = await settle(session, change, response)
  const head = withoutNull({ instance_id: instanceId, binding_id: bindingId, state, operation })
  const text = renderFields(head)
  if (state === 'in progress') return session.print(head, text)
  const isAsync = response.status === 202
  const data = isAsync ? await readBinding(session, instanceId, bindingId, ids) : toBindingData(response.body)
  session.print({ ...head, ...data }, `${text}\n${renderBinding(data)}`)
}
