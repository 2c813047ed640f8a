import type { JsonObject } from '../../protocol/json.ts'
import type { Checkpoint, Lease, Parking } from '../../store.ts'
import { text, toText } from '../columns.ts'
import { keyOf } from '../keys.ts'
import type { Calls } from './database.ts'
import type { Gather } from './gathered.ts'
import type { HeldRows } from './held-rows.ts'
import { fromStep, placeOfBinding, placeOfInstance } from './rows.ts'

/** A step's checkpoint must be on the disk before the next step begins: a round trip each, shared with other operations. */
export function createCheckpoints(calls: Calls, gather: Gather, held: HeldRows) {
  const { run, statements, sealer } = calls
  return async (lease: Lease, checkpoint: Checkpoint): Promise<boolean> => {
    const { operationId, fence } = lease
    const { description, step, state } = checkpoint
    const id = keyOf(operationId)
    const [said, done] = [toText(description), step && fromStep(sealer, id, step)]
    async function alone() {
      const values = [said, done && JSON.stringify(done), state && (await sealState(calls, id, state))]
      const [row] = await run(statements.checkpoint, [id, fence, ...values.map(value => value ?? null)])
      return row?.held === true ? row : null
    }
    const row = JSON.stringify({ id, fence, description: said, step: done })
    // The state of an instance is written under the instance's lock, and nobody waits for a lock while holding others.
    const answer = await (state === undefined ? gather({ part: 'checkpoint', key: fence, row, alone }) : alone())
    if (answer === null) held.forget(lease)
    else held.noteCheckpoint(lease, checkpoint, answer.transaction, Number(answer.now))
    return answer !== null
  }
}

/** Only what is encrypted has to know whose state it is. */
async function sealState({ run, statements, sealer }: Calls, operation: string, state: JsonObject): Promise<string> {
  if (sealer.keyring === undefined) return sealer.seal(state, placeOfInstance('sealed_state', ''))
  const [row] = await run(statements.about, [operation])
  const { instance_id: instance = '', binding_id: binding = null } = row ?? {}
  const place =
    binding === null
      ? placeOfInstance('sealed_state', text(instance))
      : placeOfBinding('sealed_state', text(instance), text(binding))
  return sealer.seal(state, place)
}

export async function renew(
  { run, statements }: Calls,
  leases: readonly Lease[],
  leaseMs: number,
): Promise<readonly Lease[]> {
  const ids = leases.map(lease => keyOf(lease.operationId))
  const rows = await run(statements.renew, [ids, leases.map(lease => lease.fence), leaseMs])
  const held = new Map(rows.map(row => [row.fence, row.id]))
  return leases.filter(({ fence }, index) => held.get(fence) === ids[index])
}

export async function park({ run, statements, sealer }: Calls, lease: Lease, parking: Parking): Promise<boolean> {
  const { until, description, step } = parking
  const id = keyOf(lease.operationId)
  const written = step === undefined ? null : JSON.stringify(fromStep(sealer, id, step))
  const values = [id, lease.fence, until, toText(description), written]
  const [row] = await run(statements.park, values)
  return row?.held === true
}

/** Answers whether anybody can start because of it. */
export async function handBack({ run, statements }: Calls, lease: Lease): Promise<boolean> {
  const [row] = await run(statements.handBack, [keyOf(lease.operationId), lease.fence])
  return row?.opened === true
}
