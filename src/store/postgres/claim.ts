import type { Claim, Claims } from '../../store.ts'
import type { SqlRow } from './driver.ts'
import { inner, toBinding, toInstance, toOperation, toStep } from './rows.ts'

/** One row for each claim; a single one without an operation where nothing was due. */
export function toClaims(rows: readonly SqlRow[]): Claims {
  const [first] = rows
  const nextAt = first?.next_at
  return {
    claims: rows.flatMap(toClaim),
    now: Number(first?.now),
    ...(typeof nextAt === 'number' ? { nextAt } : {}),
  }
}

function toClaim(row: SqlRow): Claim[] {
  const [operation, instance, binding] = [inner(row.operation), inner(row.instance), inner(row.binding)]
  if (operation === undefined || instance === undefined) return []
  return [
    {
      operation: toOperation(operation),
      instance: toInstance(instance),
      ...(binding === undefined ? {} : { binding: toBinding(binding) }),
      steps: ((row.steps ?? []) as readonly SqlRow[]).map(toStep),
      takenOver: row.taken_over === true,
    },
  ]
}
