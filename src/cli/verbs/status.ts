import { checkId } from '../ids.ts'
import type { CliIo } from '../io.ts'
import { refusal } from '../refusal.ts'
import { renderFields, toFields } from '../render/fields.ts'
import type { ConnectionOptions } from '../session.ts'
import { openSession, present } from '../session.ts'

/** Asks once how the latest operation stands; that it failed is an answer, not a failure of this command. */
export async function runStatus(
  io: CliIo,
  instance: string,
  binding: string | undefined,
  options: ConnectionOptions,
): Promise<void> {
  const session = openSession(io, options)
  const instanceId = checkId('instance', instance)
  const bindingId = binding === undefined ? undefined : checkId('binding', binding)
  const known = await session.memory.recall(instanceId)
  const operation =
    bindingId === undefined
      ? known?.operation
      : new Map(Object.entries(known?.bindings ?? {})).get(bindingId)?.operation
  const query = {
    ...(known === undefined ? {} : { service_id: known.service_id, plan_id: known.plan_id }),
    operation,
  }
  const response =
    bindingId === undefined
      ? await session.client.lastOperation(instanceId, query)
      : await session.client.lastBindingOperation(instanceId, bindingId, query)
  if (response.status !== 200 && response.status !== 410) {
    throw refusal(
      `could not read the status of ${bindingId === undefined ? 'instance' : 'binding'} ${bindingId ?? instanceId}`,
      response,
    )
  }
  const { state, description, instance_usable, update_repeatable } = response.body
  const result = present({
    instance_id: instanceId,
    binding_id: bindingId,
    state: response.status === 410 ? 'gone' : state,
    description,
    instance_usable,
    update_repeatable,
    operation,
  })
  session.print(result, renderFields(toFields(result)))
}
