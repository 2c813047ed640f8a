import type { Binding, Claim, Claims, Instance } from '../../store.ts'
import { toOperation } from '../columns.ts'
import type { Calls } from './database.ts'
import type { SqlRow } from './driver.ts'
import { inner, toResource, toStep } from './rows.ts'

export async function claimDue(
  { run, statements }: Calls,
  owner: string,
  max: number,
  leaseMs: number,
): Promise<Claims> {
  const rows = await run(statements.claim, [owner, Math.max(0, max), leaseMs])
  const { now, next_at: nextAt } = rows[0] ?? {}
  return { claims: rows.flatMap(toClaim), now: Number(now), nextAt: typeof nextAt === 'number' ? nextAt : undefined }
}

/** Nothing for the single row without an operation that says that nothing was due. */
function toClaim(row: SqlRow): Claim[] {
  const [operation, instance, binding] = [inner(row.operation), inner(row.instance), inner(row.binding)]
  if (operation === undefined || instance === undefined) return []
  return [
    {
      operation: toOperation(operation),
      instance: toResource<Instance>(instance),
      binding: binding && toResource<Binding>(binding),
      steps: ((row.steps ?? []) as readonly SqlRow[]).map(toStep),
      takenOver: row.taken_over === true,
    },
  ]
}
