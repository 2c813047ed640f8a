import { streamBackup } from '../../broker/moving/stream-backup.ts'
import { streamExport } from '../../broker/moving/stream-export.ts'
import { flag } from '../../shape/fields.ts'
import { object, optional } from '../../shape/shape.ts'
import { guarded } from '../respond.ts'
import type { AdminEndpoint } from './admin-app.ts'
import { toFilters } from './lists.ts'
import { readFields } from './read-fields.ts'

export const exportQuery = object({ withSecrets: optional(flag()) })

/** GET /admin/export: all rows as of one moment, a JSON object a line. */
export const exportEndpoint: AdminEndpoint = async ({ broker }, request) => {
  const { withSecrets = false } = readFields(exportQuery, toFilters(request.query), { textAsValues: true })
  const headers = { ...guarded, 'content-type': 'application/x-ndjson' }
  return { status: 200, headers, body: '', stream: streamExport(broker, withSecrets) }
}

/** GET /admin/backup: the file of a SQLite store, as of one moment. */
export const backupEndpoint: AdminEndpoint = async ({ broker }) => {
  const headers = { ...guarded, 'content-type': 'application/vnd.sqlite3' }
  return { status: 200, headers, body: '', stream: await streamBackup(broker) }
}
