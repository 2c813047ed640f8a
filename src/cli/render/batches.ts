import type { BatchBody, BatchItemBody } from '../../client/index.ts'
import { renderTable } from './tables.ts'

export function renderBatches(batches: readonly BatchBody[]): string {
  if (batches.length === 0) return 'There are no batches.\n'
  const rows = batches.map(({ id, action, state, total, by, created_at, reason }) => {
    return [id, action, state, String(total), by, created_at, reason]
  })
  return renderTable([['BATCH', 'ACTION', 'STATE', 'ITEMS', 'BY', 'CREATED', 'REASON'], ...rows])
}

export function renderBatchItems(items: readonly BatchItemBody[]): string {
  if (items.length === 0) return 'There are no items.\n'
  const rows = items.map(({ id, allowed, reason, outcome, operation = '', detail = reason ?? '' }) => {
    return [id, outcome ?? (allowed === true ? 'allowed' : 'refused'), operation, detail]
  })
  return renderTable([['ITEM', 'OUTCOME', 'OPERATION', 'WHY NOT'], ...rows])
}
