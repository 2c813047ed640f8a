import { json } from '../respond.ts'
import type { AdminEndpoint } from './admin-app.ts'

/** GET /admin/openapi.json: this API as OpenAPI 3.1. */
export const showOpenApiEndpoint: AdminEndpoint = async ({ routes, worker }) => {
  const { toOpenApi } = await import('./openapi/document.ts')
  return json(200, toOpenApi(routes, String(worker.describe().version)))
}
