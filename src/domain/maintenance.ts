import { BrokerError } from '../protocol/errors.ts'

/** PROV-09, UPD-16, MI-05: a version that was sent must be the catalog's, exactly. A request without a version is never refused. */
export function checkMaintenance(requested: string | undefined, catalog: string | undefined): void {
  if (requested === undefined || requested === catalog) return
  throw new BrokerError(
    'MaintenanceInfoConflict',
    catalog === undefined
      ? 'The plan has no maintenance_info: read the catalog again.'
      : `The catalog offers maintenance_info.version ${catalog} for this plan: read the catalog again.`,
  )
}
