import { decideShared, type SharedVerdict, type SharedWish } from '../../domain/shared-claim.ts'
import { type Lease, StoreUnavailableError } from '../../store.ts'
import { text, toShared } from '../columns.ts'
import { keyOf } from '../keys.ts'
import type { Calls } from './database.ts'

/** Looks, decides, and writes if nothing has changed since, as accept.ts does. */
export async function share(
  { run, statements }: Calls,
  lease: Lease,
  name: string,
  wish: SharedWish,
): Promise<SharedVerdict['answer'] | undefined> {
  const operationId = keyOf(lease.operationId)
  const key = keyOf(name)
  const keys = [operationId, lease.fence, key]
  let [seen] = await run(statements.lookShared, keys)
  for (let round = 0; round < rounds; round += 1) {
    if (seen === undefined) return undefined
    const { answer, row, claim } = decideShared(wish, {
      row: toShared(key, seen),
      operationId,
      otherClaims: Number(seen.other_claims),
      holderAlive: seen.holder_alive === true,
    })
    const values = [...keys, text(seen.version), row.phase, row.holder ?? null, claim ?? null]
    const [written] = await run(statements.share, values)
    if (written?.outcome === 'written') return answer
    seen = written
  }
  throw new StoreUnavailableError(`a shared resource was changed ${rounds} times while a claim on it was decided`)
}

const rounds = 200
