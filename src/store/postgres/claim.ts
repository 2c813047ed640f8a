import type { Claim, Claims } from '../../store.ts'
import type { Calls } from './database.ts'
import type { SqlRow } from './driver.ts'
import { inner, toBinding, toInstance, toOperation, toStep } from './rows.ts'

export async function claimDue(
  { run, statements }: Calls,
  owner: string,
  max: number,
  leaseMs: number,
): Promise<Claims> {
  return toClaims(await run(statements.claim, [owner, Math.max(0, max), leaseMs]))
}

/** One row for each claim; a single one without an operation where nothing was due. */
function toClaims(rows: readonly SqlRow[]): Claims {
  const [first] = rows
  const nextAt = first?.next_at
  return {
    claims: rows.flatMap(toClaim),
    now: Number(first?.now),
    nextAt: typeof nextAt === 'number' ? nextAt : undefined,
  }
}

function toClaim(row: SqlRow): Claim[] {
  const [operation, instance, binding] = [inner(row.operation), inner(row.instance), inner(row.binding)]
  if (operation === undefined || instance === undefined) return []
  return [
    {
      operation: toOperation(operation),
      instance: toInstance(instance),
      binding: binding && toBinding(binding),
      steps: ((row.steps ?? []) as readonly SqlRow[]).map(toStep),
      takenOver: row.taken_over === true,
    },
  ]
}
