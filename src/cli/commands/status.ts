import { type CliCommand, parseBindingId } from '../command.ts'
import { refusal } from '../refusal.ts'
import { onBroker, type Session } from '../session.ts'

export function defineCommand(program: CliCommand): void {
  program
    .command('status')
    .instanceArgument()
    .argument('[binding]', 'id of a binding of it', parseBindingId)
    .description('show how the latest operation on an instance or a binding stands')
    .connectionOptions()
    .examples('purser status my-db', 'purser status my-db my-app --output json')
    .action(onBroker(showStatus))
}

/** Asks once. That the operation has failed is an answer, not a failure of this command. */
async function showStatus({ client, memory, printFields }: Session, instanceId: string, bindingId: string | undefined) {
  const known = await memory.recall(instanceId)
  const ofBinding = new Map(Object.entries(known?.bindings ?? {})).get(bindingId ?? '')
  const { operation } = (bindingId === undefined ? known : ofBinding) ?? {}
  const query = { service_id: known?.service_id, plan_id: known?.plan_id, operation }
  const response =
    bindingId === undefined
      ? await client.lastOperation(instanceId, query)
      : await client.lastBindingOperation(instanceId, bindingId, query)
  if (response.status !== 200 && response.status !== 410) {
    const what = bindingId === undefined ? `instance ${instanceId}` : `binding ${bindingId}`
    throw refusal(`could not read the status of ${what}`, response)
  }
  const { state, description, instance_usable, update_repeatable } = response.body
  printFields({
    instance_id: instanceId,
    binding_id: bindingId,
    state: response.status === 410 ? 'gone' : state,
    description,
    instance_usable,
    update_repeatable,
    operation,
  })
}
