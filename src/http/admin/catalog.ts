import { toWireCatalog } from '../../catalog/wire-catalog.ts'
import { latestMinor } from '../../protocol/api-version.ts'
import { json } from '../respond.ts'
import type { AdminEndpoint } from './admin-app.ts'

/** GET /admin/catalog: all that is offered, whichever platform asks for it, as the newest version of the OSB API shows it. */
export const readCatalogEndpoint: AdminEndpoint = async ({ broker }) =>
  json(200, toWireCatalog(broker.services.offerings, latestMinor))
