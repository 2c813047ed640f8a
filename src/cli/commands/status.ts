import type { Command } from 'commander'
import { checkId } from '../ids.ts'
import type { CliIo } from '../io.ts'
import { addConnectionOptions, examples } from '../options.ts'
import { refusal } from '../refusal.ts'
import { type ConnectionOptions, openSession } from '../session.ts'

export function defineCommand(program: Command, io: CliIo): void {
  const command = program
    .command('status')
    .argument('<instance>', 'id of the instance')
    .argument('[binding]', 'id of a binding of it')
    .description('show how the latest operation on an instance or a binding stands')
  addConnectionOptions(command)
    .addHelpText('after', examples('purser status my-db', 'purser status my-db my-app --output json'))
    .action((instance: string, binding: string | undefined, options: ConnectionOptions) =>
      showStatus(io, instance, binding, options),
    )
}

/** Asks once. That the operation has failed is an answer, not a failure of this command. */
async function showStatus(
  io: CliIo,
  instance: string,
  binding: string | undefined,
  options: ConnectionOptions,
): Promise<void> {
  const session = openSession(io, options)
  const instanceId = checkId('instance', instance)
  const bindingId = binding === undefined ? undefined : checkId('binding', binding)
  const known = await session.memory.recall(instanceId)
  const ofBinding = new Map(Object.entries(known?.bindings ?? {})).get(bindingId ?? '')
  const { operation } = (bindingId === undefined ? known : ofBinding) ?? {}
  const query = { service_id: known?.service_id, plan_id: known?.plan_id, operation }
  const response =
    bindingId === undefined
      ? await session.client.lastOperation(instanceId, query)
      : await session.client.lastBindingOperation(instanceId, bindingId, query)
  if (response.status !== 200 && response.status !== 410) {
    const what = bindingId === undefined ? `instance ${instanceId}` : `binding ${bindingId}`
    throw refusal(`could not read the status of ${what}`, response)
  }
  const { state, description, instance_usable, update_repeatable } = response.body
  session.printFields({
    instance_id: instanceId,
    binding_id: bindingId,
    state: response.status === 410 ? 'gone' : state,
    description,
    instance_usable,
    update_repeatable,
    operation,
  })
}
