import { listQuotas } from '../../broker/quotas.ts'
import { json } from '../respond.ts'
import type { AdminEndpoint } from './admin-app.ts'
import { toBody } from './to-body.ts'

/** GET /admin/quotas: what each platform has, and what it may have. */
export const listQuotasEndpoint: AdminEndpoint = async ({ broker }) => {
  const quotas = await listQuotas(broker)
  return json(200, { items: quotas.map(toBody) })
}
