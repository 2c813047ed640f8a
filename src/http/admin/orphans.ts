import { type Finding, findOrphans, type OrphanReport } from '../../broker/orphans/find-orphans.ts'
import { type Removal, removeOrphans } from '../../broker/orphans/remove-orphans.ts'
import { flag, text } from '../../shape/fields.ts'
import { object, optional } from '../../shape/shape.ts'
import type { HttpResponse } from '../message.ts'
import { json } from '../respond.ts'
import type { AdminEndpoint } from './admin-app.ts'
import { readQuery } from './lists.ts'
import { readFields, reason } from './read-fields.ts'
import { toBody } from './to-body.ts'

export const orphansQuery = object({ serviceId: optional(text()) })
export const removeOrphansBody = object({ serviceId: optional(text()), dryRun: optional(flag()), reason })

/** GET /admin/orphans: asks the backends of services that can list them, and compares that with the ledger. */
export const listOrphansEndpoint: AdminEndpoint = async ({ broker }, { query }) =>
  answer(await findOrphans(broker, readQuery(orphansQuery, query).serviceId))

/** POST /admin/orphans/remove: the same, and begins to remove what belongs to nobody. */
export const removeOrphansEndpoint: AdminEndpoint = async ({ broker }, { acting, body }) => {
  const { serviceId, dryRun = false, reason: why } = readFields(removeOrphansBody, await body())
  return answer(await removeOrphans(broker, { ...acting, reason: why }, { serviceId, dryRun }), dryRun)
}

function answer(report: OrphanReport<Finding | Removal>, dryRun?: boolean): HttpResponse {
  const { items, services, incomplete } = report
  const failed = report.failed.map(each => toBody({ ...each }))
  const shown = items.map(item => {
    const { kind, serviceId, name, instanceId, bindingId, createdAt, detail, removable, reason: why } = item
    const operation = 'operation' in item ? item.operation : undefined
    const about = { kind, serviceId, name, instanceId, bindingId, createdAt, detail }
    return toBody({ ...about, removable, reason: why, operation })
  })
  return json(200, { items: shown, services, failed, incomplete, dry_run: dryRun })
}
