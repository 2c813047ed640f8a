import { readLog } from '../../broker/read-log.ts'
import { json } from '../respond.ts'
import type { AdminEndpoint } from './admin-app.ts'
import { followLog } from './follow-operation.ts'
import { wantsStream } from './streams.ts'

/** GET /admin/operations/:id/log: the end of what each run of a bundle printed, without secrets. */
export const readLogEndpoint: AdminEndpoint = async (context, request) => {
  if (wantsStream(request.headers)) return followLog(context, request)
  const [{ broker }, { id }] = [context, request]
  const { operation, runs } = await readLog(broker.store, id)
  const { action, state, instanceId, bindingId } = operation
  return json(200, {
    operation: operation.id,
    action,
    state,
    instance_id: instanceId,
    binding_id: bindingId,
    runs: runs.map(run => ({ ...run })),
  })
}
