import type { JsonObject } from '../../protocol/json.ts'
import { json } from '../respond.ts'
import type { AdminEndpoint } from './admin-app.ts'
import { toBody } from './to-body.ts'

/** GET /admin/workers: the processes that live, as they said last; of the one that answers, as it is now. */
export const listWorkersEndpoint: AdminEndpoint = async ({ broker, worker }) => {
  const { now, bulletins } = await broker.store.bulletins('worker')
  const others = bulletins.filter(({ key }) => key !== worker.owner)
  const all = [{ key: worker.owner, at: now, doc: worker.describe() }, ...others]
  return json(200, {
    items: all
      .map(({ key: owner, at: seenAt, doc }): JsonObject => toBody({ owner, seenAt, ...doc }))
      .sort((one, other) => (String(one.since) < String(other.since) ? -1 : 1)),
  })
}
