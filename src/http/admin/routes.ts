import type { Role } from '../../authenticator.ts'
import { abandonInstanceEndpoint } from './abandon-instance.ts'
import type { AdminEndpoint } from './admin-app.ts'
import { adoptBindingsEndpoint, adoptInstanceEndpoint } from './adopt.ts'
import {
  createBatchEndpoint,
  listBatchesEndpoint,
  listBatchItemsEndpoint,
  showBatchEndpoint,
  stopBatchEndpoint,
} from './batches.ts'
import { readCatalogEndpoint } from './catalog.ts'
import { listChoresEndpoint, runChoreEndpoint } from './chores.ts'
import { listErrorsEndpoint } from './errors.ts'
import { followEventsEndpoint } from './events.ts'
import { deleteGateEndpoint, listGatesEndpoint, putGateEndpoint, readGatesEndpoint } from './gates.ts'
import { listEntriesEndpoint, listHistoryEndpoint, showChainEndpoint } from './history.ts'
import { listBindingsEndpoint, listInstancesEndpoint, showInstanceEndpoint } from './instances.ts'
import { listKeysEndpoint, rotateKeysEndpoint } from './keys.ts'
import { setLogLevelsEndpoint } from './log-levels.ts'
import { showMeEndpoint } from './me.ts'
import { moveInstanceEndpoint } from './move-instance.ts'
import { backupEndpoint, exportEndpoint } from './moving.ts'
import { observeInstanceEndpoint } from './observe-instance.ts'
import { showOpenApiEndpoint } from './openapi.ts'
import {
  cancelOperationEndpoint,
  failOperationEndpoint,
  holdOperationEndpoint,
  releaseOperationEndpoint,
  retryOperationEndpoint,
  runOperationNowEndpoint,
} from './operation-verbs.ts'
import { listOperationsEndpoint, readTimelineEndpoint, showOperationEndpoint } from './operations.ts'
import { listOrphansEndpoint, removeOrphansEndpoint } from './orphans.ts'
import { listQuotasEndpoint } from './quotas.ts'
import { readLogEndpoint } from './read-log.ts'
import { listRegistriesEndpoint, syncRegistriesEndpoint } from './registries.ts'
import { endSessionEndpoint, endSessionsEndpoint, listSessionsEndpoint } from './sessions.ts'
import { listRevisionsEndpoint, showStatsEndpoint } from './stats.ts'
import { sweepInstanceEndpoint } from './sweep-instance.ts'
import { listWorkersEndpoint } from './workers.ts'

export interface AdminRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** The least that is needed. */
  readonly role: Role
  readonly endpoint: AdminEndpoint
}

export type AdminRoutes = Readonly<Record<string, AdminRoute>>

/**
 * The whole operators' API; where a path has several methods, the others stand before it. The command and the console use
 * nothing else. docs/reference/admin-api.md lists the same.
 */
export const adminRoutes: AdminRoutes = {
  '/admin/me': { method: 'GET', role: 'viewer', endpoint: showMeEndpoint },
  '/admin/openapi.json': { method: 'GET', role: 'viewer', endpoint: showOpenApiEndpoint },
  '/admin/stats': { method: 'GET', role: 'viewer', endpoint: showStatsEndpoint },
  '/admin/revisions': { method: 'GET', role: 'viewer', endpoint: listRevisionsEndpoint },
  '/admin/workers': { method: 'GET', role: 'viewer', endpoint: listWorkersEndpoint },
  '/admin/quotas': { method: 'GET', role: 'viewer', endpoint: listQuotasEndpoint },
  '/admin/errors': { method: 'GET', role: 'viewer', endpoint: listErrorsEndpoint },
  '/admin/events': { method: 'GET', role: 'viewer', endpoint: followEventsEndpoint },
  '/admin/history': { method: 'GET', role: 'viewer', endpoint: listHistoryEndpoint },
  '/admin/history/chain': { method: 'GET', role: 'viewer', endpoint: showChainEndpoint },
  '/admin/history/entries': { method: 'GET', role: 'viewer', endpoint: listEntriesEndpoint },
  '/admin/instances': { method: 'GET', role: 'viewer', endpoint: listInstancesEndpoint },
  '/admin/instances/:id': { method: 'GET', role: 'viewer', endpoint: showInstanceEndpoint },
  '/admin/instances/:id/move': { method: 'POST', role: 'admin', endpoint: moveInstanceEndpoint },
  '/admin/instances/:id/abandon': { method: 'POST', role: 'admin', endpoint: abandonInstanceEndpoint },
  '/admin/instances/:id/observe': { method: 'POST', role: 'operator', endpoint: observeInstanceEndpoint },
  '/admin/instances/:id/sweep': { method: 'POST', role: 'operator', endpoint: sweepInstanceEndpoint },
  '/admin/instances/:id/adopt': { method: 'POST', role: 'admin', endpoint: adoptInstanceEndpoint },
  '/admin/instances/:id/adopt-bindings': { method: 'POST', role: 'admin', endpoint: adoptBindingsEndpoint },
  '/admin/bindings': { method: 'GET', role: 'viewer', endpoint: listBindingsEndpoint },
  '/admin/orphans': { method: 'GET', role: 'operator', endpoint: listOrphansEndpoint },
  '/admin/orphans/remove': { method: 'POST', role: 'admin', endpoint: removeOrphansEndpoint },
  '/admin/operations': { method: 'GET', role: 'viewer', endpoint: listOperationsEndpoint },
  '/admin/operations/:id': { method: 'GET', role: 'viewer', endpoint: showOperationEndpoint },
  '/admin/operations/:id/timeline': { method: 'GET', role: 'viewer', endpoint: readTimelineEndpoint },
  '/admin/operations/:id/log': { method: 'GET', role: 'viewer', endpoint: readLogEndpoint },
  '/admin/operations/:id/retry': { method: 'POST', role: 'operator', endpoint: retryOperationEndpoint },
  '/admin/operations/:id/cancel': { method: 'POST', role: 'operator', endpoint: cancelOperationEndpoint },
  '/admin/operations/:id/fail': { method: 'POST', role: 'operator', endpoint: failOperationEndpoint },
  '/admin/operations/:id/hold': { method: 'POST', role: 'operator', endpoint: holdOperationEndpoint },
  '/admin/operations/:id/release': { method: 'POST', role: 'operator', endpoint: releaseOperationEndpoint },
  '/admin/operations/:id/run-now': { method: 'POST', role: 'operator', endpoint: runOperationNowEndpoint },
  '/admin/export': { method: 'GET', role: 'admin', endpoint: exportEndpoint },
  '/admin/backup': { method: 'GET', role: 'admin', endpoint: backupEndpoint },
  '/admin/catalog': { method: 'GET', role: 'viewer', endpoint: readCatalogEndpoint },
  '/admin/chores': { method: 'GET', role: 'viewer', endpoint: listChoresEndpoint },
  '/admin/chores/:name/runs': { method: 'POST', role: 'operator', endpoint: runChoreEndpoint },
  '/admin/keys': { method: 'GET', role: 'operator', endpoint: listKeysEndpoint },
  '/admin/keys/rotate': { method: 'POST', role: 'operator', endpoint: rotateKeysEndpoint },
  '/admin/log-levels': { method: 'PUT', role: 'admin', endpoint: setLogLevelsEndpoint },
  '/admin/registries': { method: 'GET', role: 'viewer', endpoint: listRegistriesEndpoint },
  '/admin/registries/sync': { method: 'POST', role: 'operator', endpoint: syncRegistriesEndpoint },
  '/admin/sessions': { method: 'GET', role: 'admin', endpoint: listSessionsEndpoint },
  'DELETE /admin/sessions': { method: 'DELETE', role: 'admin', endpoint: endSessionsEndpoint },
  '/admin/sessions/:id': { method: 'DELETE', role: 'admin', endpoint: endSessionEndpoint },
  '/admin/gates': { method: 'GET', role: 'viewer', endpoint: listGatesEndpoint },
  '/admin/gates/:action': { method: 'GET', role: 'viewer', endpoint: readGatesEndpoint },
  'PUT /admin/gates/:action': { method: 'PUT', role: 'operator', endpoint: putGateEndpoint },
  'DELETE /admin/gates/:action': { method: 'DELETE', role: 'operator', endpoint: deleteGateEndpoint },
  '/admin/batches': { method: 'GET', role: 'viewer', endpoint: listBatchesEndpoint },
  'POST /admin/batches': { method: 'POST', role: 'operator', endpoint: createBatchEndpoint },
  '/admin/batches/:id': { method: 'GET', role: 'viewer', endpoint: showBatchEndpoint },
  '/admin/batches/:id/items': { method: 'GET', role: 'viewer', endpoint: listBatchItemsEndpoint },
  '/admin/batches/:id/stop': { method: 'POST', role: 'operator', endpoint: stopBatchEndpoint },
}
