/**
 * Decisions are made from a snapshot without holding a lock, and written only if everything they were made from is still
 * the same, checked by write() under the instance's lock. None leaves a transaction open while this process thinks, and a
 * decision that loses is shown the new state and decides again: `decide` is pure.
 *
 * The round trips, and why none can be left out:
 * - A new instance takes one. Nothing can be known of an id that is not there, so nothing has to be asked: the decision is
 *   made for an empty snapshot, and the insert of the row says whether that was true.
 * - Any other takes two: what it is made from has to come here, and what was decided has to go there. Sending the rows that
 *   the claim has brought instead of looking would not do for the end of an operation: renewals, checkpoints and others'
 *   bindings have changed them since, and each of these writes would have to tell.
 */
import type { Binding, Change, Finishing, Instance, Lease, Snapshot, Target, Verdict } from '../../store.ts'
import { StoreUnavailableError } from '../../store.ts'
import { text, toOperation } from '../columns.ts'
import { keyOf } from '../keys.ts'
import type { Calls } from './database.ts'
import type { SqlRow } from './driver.ts'
import type { Gather } from './gathered.ts'
import { sweptUnit } from './look-functions.ts'
import { fromChange, inner, optionalKey, toResource } from './rows.ts'
import type { ServerClock } from './server-clock.ts'

type Deciding = ReturnType<typeof createDeciding>

export function createDeciding(calls: Calls, clock: ServerClock, gather: Gather) {
  return { ...calls, clock, lookHeld: createHeldReader(calls, gather), write: createWriter(calls, gather) }
}

export async function accept<Answer>(
  { run, statements, write, clock }: Deciding,
  target: Target,
  decide: (snapshot: Snapshot) => Verdict<Answer>,
): Promise<Verdict<Answer>> {
  const keys = {
    instance: keyOf(target.instanceId),
    binding: optionalKey(target.bindingId),
    predecessor: optionalKey(target.predecessorId),
  }
  const now = clock.now()
  const assumed = now === undefined ? undefined : decideForNew(now, decide)
  let seen: SqlRow | undefined
  if (now === undefined || assumed?.change === undefined) [seen] = await run(statements.look, Object.values(keys))
  else {
    seen = await write({ ...keys, version: null, now, change: fromChange(assumed.change) })
    clock.learn(Number(seen?.now))
    if (seen?.outcome === 'written') return assumed
  }
  for (let round = 0; round < rounds; round += 1) {
    const snapshot = toSnapshot(seen)
    clock.learn(snapshot.now)
    const verdict = decide(snapshot)
    if (verdict.change === undefined) return verdict
    seen = await write({ ...keys, version: text(seen?.version), now: null, change: fromChange(verdict.change) })
    if (seen?.outcome === 'written') return verdict
  }
  throw contended()
}

/** The verdict on an id that nobody has heard of, where that is a new instance; any other has to be looked at first. */
function decideForNew<Answer>(
  now: number,
  decide: (snapshot: Snapshot) => Verdict<Answer>,
): Verdict<Answer> | undefined {
  try {
    const verdict = decide({ now, liveBindings: 0, busyBindings: 0, sweptBindings: 0 })
    return verdict.change?.instance === undefined ? undefined : verdict
  } catch {
    return undefined
  }
}

/** Answers what was written, or undefined where the lease is lost. */
export async function finish(
  { lookHeld, write }: Deciding,
  lease: Lease,
  decide: (snapshot: Finishing) => Change,
): Promise<Change | undefined> {
  const [id, fence] = [keyOf(lease.operationId), lease.fence]
  let seen = (await lookHeld(lease)) ?? undefined
  for (let round = 0; round < rounds; round += 1) {
    const own = [inner(seen?.operation), inner(seen?.binding_operation)].find(row => row?.id === id)
    if (own === undefined || own.fence !== fence || own.state !== 'running') return undefined
    const change = decide({ ...toSnapshot(seen), finishing: toOperation(own) })
    seen = await write({
      instance: text(own.instance_id),
      binding: columnText(own.binding_id),
      predecessor: columnText(inner(seen?.binding)?.predecessor_id),
      version: text(seen?.version),
      now: null,
      change: fromChange(change),
    })
    if (seen?.outcome === 'written') return change
  }
  throw contended()
}

/** Each round that is lost is one that another replica has won; so many in a row mean that something is wrong. */
const rounds = 200

function contended(): StoreUnavailableError {
  return new StoreUnavailableError(`the instance was changed ${rounds} times while a change of it was decided`)
}

function toSnapshot(row: SqlRow | undefined): Snapshot {
  if (row === undefined) throw new Error('the ledger gave no snapshot')
  const [instance, binding, predecessor] = [inner(row.instance), inner(row.binding), inner(row.predecessor)]
  const [operation, bindingOperation] = [inner(row.operation), inner(row.binding_operation)]
  return {
    now: Number(row.now),
    instance: instance && toResource<Instance>(instance),
    operation: operation && toOperation(operation),
    binding: binding && toResource<Binding>(binding),
    bindingOperation: bindingOperation && toOperation(bindingOperation),
    predecessor: predecessor && toResource<Binding>(predecessor),
    liveBindings: Number(row.live),
    busyBindings: Number(row.busy) % sweptUnit,
    sweptBindings: Math.floor(Number(row.busy) / sweptUnit),
  }
}

function columnText(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** A decision on its way, as write() takes it. */
interface Write {
  readonly instance: string
  readonly binding: string | null
  readonly predecessor: string | null
  /** What it was decided from; none for a new instance, which was decided at `now` without looking. */
  readonly version: string | null
  readonly now: number | null
  /** The change, as JSON. */
  readonly change: string
}

/** Writes it if it still holds. Answers the row of write(): whether it was written, else what there is now. */
function createWriter({ run, statements }: Calls, gather: Gather) {
  let last = 0

  return async (decision: Write): Promise<SqlRow> => {
    const { instance, binding, predecessor, version, change, now } = decision
    const answer = await gather({
      part: 'write',
      key: ++last,
      // The change is JSON already.
      row: `${JSON.stringify({ place: last, instance, binding, predecessor, version, now }).slice(0, -1)},"change":${change}}`,
      prefersAlone: version === null,
      async alone() {
        const [row] = await run(statements.write, [instance, binding, predecessor, version, change, now])
        return row ?? null
      },
    })
    return answer ?? {}
  }
}

/** What the end of an operation is decided from; null where the lease is lost. */
function createHeldReader({ run, statements }: Calls, gather: Gather) {
  return ({ operationId, fence }: Lease): Promise<SqlRow | null> => {
    const id = keyOf(operationId)
    return gather({
      part: 'look',
      key: fence,
      row: JSON.stringify({ id, fence }),
      async alone() {
        const [row] = await run(statements.lookHeld, [id, fence])
        return row ?? null
      },
    })
  }
}
