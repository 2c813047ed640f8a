import { readBinding, renderBinding } from '../binding-data.ts'
import { checkId } from '../ids.ts'
import type { CliIo } from '../io.ts'
import type { ConnectionOptions } from '../session.ts'
import { openSession } from '../session.ts'

export async function runCredentials(
  io: CliIo,
  instance: string,
  binding: string,
  options: ConnectionOptions,
): Promise<void> {
  const session = openSession(io, options)
  const [instanceId, bindingId] = [checkId('instance', instance), checkId('binding', binding)]
  const known = await session.memory.recall(instanceId)
  const query = known === undefined ? {} : { service_id: known.service_id, plan_id: known.plan_id }
  const data = await readBinding(session, instanceId, bindingId, query)
  session.print({ instance_id: instanceId, binding_id: bindingId, ...data }, renderBinding(data))
}
