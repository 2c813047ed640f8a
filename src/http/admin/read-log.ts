import { readLog } from '../../broker/read-log.ts'
import { json } from '../respond.ts'
import type { AdminEndpoint } from './admin-app.ts'

/** GET /admin/operations/:id/log: the end of what each run of a bundle printed, without secrets. */
export const readLogEndpoint: AdminEndpoint = async ({ broker }, { id }) => {
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
