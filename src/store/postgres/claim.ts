import type { LeftOut } from '../../domain/left-out.ts'
import type { Claim, Claims } from '../../store.ts'
import { text, toOperation } from '../columns.ts'
import type { Sealer } from '../sealing.ts'
import type { Calls } from './database.ts'
import type { SqlRow } from './driver.ts'
import type { HeldRows } from './held-rows.ts'
import { generatedKey } from './operator-schema.ts'
import { inner, toBinding, toInstance, toStep } from './rows.ts'

interface ClaimRequest {
  readonly owner: string
  readonly max: number
  readonly leaseMs: number
  readonly leftOut?: LeftOut
}

/** The values of what a statement leaves out. */
export function listed({ services, platforms }: LeftOut): string[][] {
  return [services.map(generatedKey), platforms.map(generatedKey)]
}

export async function claimDue(
  { run, statements, sealer }: Calls,
  held: HeldRows,
  { owner, max, leaseMs, leftOut }: ClaimRequest,
): Promise<Claims> {
  const values = [owner, Math.max(0, max), leaseMs]
  const rows =
    leftOut === undefined
      ? await run(statements.claim, values)
      : await run(statements.claimOthers, [...values, ...listed(leftOut)])
  const { now, next_at: nextAt } = rows[0] ?? {}
  const claims = rows.flatMap(row => {
    const claim = toClaim(sealer, row)
    if (claim === undefined) return []
    const rows = { instanceXmin: text(row.instance_xmin), live: Number(row.live) }
    if (row.busy === false) held.learn(claim, row.transaction, rows)
    return [claim]
  })
  return { claims, now: Number(now), nextAt: typeof nextAt === 'number' ? nextAt : undefined }
}

/** None for the single row without an operation that says that nothing was due. */
function toClaim(sealer: Sealer, row: SqlRow): Claim | undefined {
  const [operation, instance, binding] = [inner(row.operation), inner(row.instance), inner(row.binding)]
  if (operation === undefined || instance === undefined) return undefined
  return {
    operation: toOperation(sealer, operation),
    instance: toInstance(sealer, instance),
    binding: binding && toBinding(sealer, binding),
    steps: ((row.steps ?? []) as readonly SqlRow[]).map(step => toStep(sealer, step)),
    takenOver: row.taken_over === true,
  }
}
