import type { Role } from '../../authenticator.ts'
import { abandonInstanceEndpoint } from './abandon-instance.ts'
import type { AdminEndpoint } from './admin-app.ts'
import { listChoresEndpoint, runChoreEndpoint } from './chores.ts'
import { listBindingsEndpoint, listInstancesEndpoint, showInstanceEndpoint } from './instances.ts'
import { moveInstanceEndpoint } from './move-instance.ts'
import {
  cancelOperationEndpoint,
  failOperationEndpoint,
  retryOperationEndpoint,
  runOperationNowEndpoint,
} from './operation-verbs.ts'
import { listOperationsEndpoint, readTimelineEndpoint, showOperationEndpoint } from './operations.ts'
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
  '/admin/instances': { method: 'GET', role: 'viewer', endpoint: listInstancesEndpoint },
  '/admin/instances/:id': { method: 'GET', role: 'viewer', endpoint: showInstanceEndpoint },
  '/admin/instances/:id/move': { method: 'POST', role: 'admin', endpoint: moveInstanceEndpoint },
  '/admin/instances/:id/abandon': { method: 'POST', role: 'admin', endpoint: abandonInstanceEndpoint },
  '/admin/bindings': { method: 'GET', role: 'viewer', endpoint: listBindingsEndpoint },
  '/admin/operations': { method: 'GET', role: 'viewer', endpoint: listOperationsEndpoint },
  '/admin/operations/:id': { method: 'GET', role: 'viewer', endpoint: showOperationEndpoint },
  '/admin/operations/:id/timeline': { method: 'GET', role: 'viewer', endpoint: readTimelineEndpoint },
  '/admin/operations/:id/log': { method: 'GET', role: 'viewer', endpoint: readLogEndpoint },
  '/admin/operations/:id/retry': { method: 'POST', role: 'operator', endpoint: retryOperationEndpoint },
  '/admin/operations/:id/cancel': { method: 'POST', role: 'operator', endpoint: cancelOperationEndpoint },
  '/admin/operations/:id/fail': { method: 'POST', role: 'operator', endpoint: failOperationEndpoint },
  '/admin/operations/:id/run-now': { method: 'POST', role: 'operator', endpoint: runOperationNowEndpoint },
  '/admin/chores': { method: 'GET', role: 'viewer', endpoint: listChoresEndpoint },
  '/admin/chores/:name/runs': { method: 'POST', role: 'operator', endpoint: runChoreEndpoint },
  '/admin/registries': { method: 'GET', role: 'viewer', endpoint: listRegistriesEndpoint },
  '/admin/registries/sync': { method: 'POST', role: 'operator', endpoint: syncRegistriesEndpoint },
}
