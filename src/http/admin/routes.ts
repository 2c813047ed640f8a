import type { Role } from '../../authenticator.ts'
import { abandonInstanceEndpoint } from './abandon-instance.ts'
import type { AdminEndpoint } from './admin-app.ts'
import { listChoresEndpoint, runChoreEndpoint } from './chores.ts'
import { moveInstanceEndpoint } from './move-instance.ts'
import { readLogEndpoint } from './read-log.ts'
import { listRegistriesEndpoint, syncRegistriesEndpoint } from './registries.ts'

export interface AdminRoute {
  readonly method: 'GET' | 'POST'
  /** The least that is needed. */
  readonly role: Role
  readonly endpoint: AdminEndpoint
}

/** The whole operators' API. The command and the console use nothing else. docs/reference/admin-api.md lists the same. */
export const adminRoutes: Readonly<Record<string, AdminRoute>> = {
  '/admin/instances/:id/move': { method: 'POST', role: 'admin', endpoint: moveInstanceEndpoint },
  '/admin/instances/:id/abandon': { method: 'POST', role: 'admin', endpoint: abandonInstanceEndpoint },
  '/admin/operations/:id/log': { method: 'GET', role: 'viewer', endpoint: readLogEndpoint },
  '/admin/chores': { method: 'GET', role: 'viewer', endpoint: listChoresEndpoint },
  '/admin/chores/:name/runs': { method: 'POST', role: 'operator', endpoint: runChoreEndpoint },
  '/admin/registries': { method: 'GET', role: 'viewer', endpoint: listRegistriesEndpoint },
  '/admin/registries/sync': { method: 'POST', role: 'operator', endpoint: syncRegistriesEndpoint },
}
