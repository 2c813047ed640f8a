/**
 * Decisions are made from a snapshot without holding a lock, and written only if everything they were made from is still
 * the same, checked by write() under the instance's lock. None leaves a transaction open while this process thinks, and a
 * decision that loses is shown the new state and decides again: `decide` is pure.
 *
 * The round trips, and why none can be left out:
 * - A new instance takes one. Nothing can be known of an id that is not there, so nothing has to be asked: the decision is
 *   made for an empty snapshot, and the insert of the row says whether that was true.
 * - The end of an instance's operation takes one as well, where nobody but its holder has written the rows since it was
 *   leased: the holder knows them (held-rows.ts).
 * - Any other takes two: what it is made from has to come here, and what was decided has to go there.
 */
import { dueAtOnce, leased } from '../../domain/first-lease.ts'
import type { Change, Claim, Finishing, Lease, Operation, Snapshot, Taker, Target, Verdict } from '../../store.ts'
import { StoreUnavailableError } from '../../store.ts'
import { text, toOperation } from '../columns.ts'
import { keyOf } from '../keys.ts'
import type { Sealer } from '../sealing.ts'
import type { Calls } from './database.ts'
import type { SqlRow } from './driver.ts'
import type { Gather } from './gathered.ts'
import { type HeldRows, type Looked, xminOf } from './held-rows.ts'
import { sweptUnit } from './look-functions.ts'
import { fromWrites } from './notes.ts'
import { fromWithin, refuseOver } from './quota.ts'
import { fromChange, fromStep, inner, optionalKey, toBinding, toInstance, toStep } from './rows.ts'
import type { ServerClock } from './server-clock.ts'

type Deciding = ReturnType<typeof createDeciding>

export function createDeciding(calls: Calls, clock: ServerClock, gather: Gather, held: HeldRows) {
  return { ...calls, clock, held, lookHeld: createHeldReader(calls, gather), write: createWriter(calls, gather) }
}

/** What was answered, and what was written for it. */
interface Decided<Answer> {
  readonly answer: Answer
  readonly written?: Change
}

export async function accept<Answer>(
  deciding: Deciding,
  target: Target,
  decide: (snapshot: Snapshot) => Verdict<Answer>,
  taker?: Taker,
): Promise<Decided<Answer>> {
  const { run, statements, sealer, write, clock } = deciding
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
    const taking = new Taking(sealer, assumed.change, emptySnapshot(now), taker)
    seen = await write({ ...keys, version: null, now, ...taking.sent })
    clock.learn(Number(seen?.now))
    if (seen?.outcome === 'written') return { answer: assumed.answer, written: taking.end(deciding, seen) }
  }
  for (let round = 0; round < rounds; round += 1) {
    const snapshot = toSnapshot(sealer, seen)
    clock.learn(snapshot.now)
    const { answer, change } = decide(snapshot)
    if (change === undefined) return { answer }
    const taking = new Taking(sealer, change, snapshot, taker)
    const written = await write({ ...keys, version: text(seen?.version), now: null, ...taking.sent })
    if (written?.outcome === 'written') return { answer, written: taking.end(deciding, written, seen) }
    seen = written
  }
  throw contended()
}

/** A change on its way, with the operation in it that is leased to the taker, if there is one. */
class Taking {
  readonly #sealer: Sealer
  readonly #change: Change
  readonly #snapshot: Snapshot
  readonly #taker: Taker | undefined
  readonly #due: Operation | undefined

  constructor(sealer: Sealer, change: Change, snapshot: Snapshot, taker: Taker | undefined) {
    this.#sealer = sealer
    this.#change = change
    this.#snapshot = snapshot
    this.#taker = taker
    const due = taker && dueAtOnce(change, snapshot.now)
    this.#due = due && taker?.wants(due) === true ? due : undefined
  }

  /** The fence and the end of the lease come from the server. */
  get sent(): Written {
    return toWritten(this.#sealer, this.#leased(0, this.#taker?.leaseTime ?? 0))
  }

  /** It was written: tells the taker. `before` is what it was decided from, if that was looked at. */
  end({ held }: Deciding, written: SqlRow, before?: SqlRow): Change {
    const [taker, due, now] = [this.#taker, this.#due, Number(written.now)]
    if (taker === undefined || due === undefined) return this.#change
    const change = this.#leased(Number(written.version), now + taker.leaseTime)
    const { instance = this.#snapshot.instance, bindings, operations = [] } = change
    const binding = bindings?.find(({ id }) => id === due.bindingId) ?? this.#snapshot.binding
    const operation = operations.find(({ id }) => id === due.id)
    // A copy, and as the ledger has it: authors get parts of it, and may do with them what they like.
    const claim: Claim = JSON.parse(JSON.stringify({ operation, instance, binding, steps: [], takenOver: false }))
    const { transaction } = written
    const instanceXmin = change.instance === undefined ? text(before?.version).split(' ')[0] : xminOf(transaction)
    if (bindings === undefined && instanceXmin !== undefined && Number(before?.busy ?? 0) === 0)
      held.learn(claim, transaction, { instanceXmin, live: Number(before?.live ?? 0) })
    taker.taken(claim, now)
    return change
  }

  #leased(fence: number, leaseUntil: number): Change {
    const [change, taker, due] = [this.#change, this.#taker, this.#due]
    if (taker === undefined || due === undefined) return change
    return leased(change, due, { leaseOwner: taker.owner, leaseUntil, fence }, this.#snapshot.now)
  }
}

function emptySnapshot(now: number): Snapshot {
  return { now, liveBindings: 0, busyBindings: 0, sweptBindings: 0 }
}

/** The verdict on an id that nobody has heard of, where that is a new instance; any other has to be looked at first. */
function decideForNew<Answer>(
  now: number,
  decide: (snapshot: Snapshot) => Verdict<Answer>,
): Verdict<Answer> | undefined {
  try {
    const verdict = decide(emptySnapshot(now))
    return verdict.change?.instance === undefined ? undefined : verdict
  } catch {
    return undefined
  }
}

/** Answers what was written, or undefined where the lease is lost. */
export async function finish(
  { lookHeld, write, held, sealer, clock }: Deciding,
  lease: Lease,
  decide: (snapshot: Finishing) => Change,
): Promise<Change | undefined> {
  let looked = held.take(lease, clock.now()) ?? toLooked(sealer, lease, (await lookHeld(lease)) ?? undefined)
  for (let round = 0; round < rounds && looked !== undefined; round += 1) {
    const { snapshot, version, now } = looked
    const { instanceId, bindingId } = snapshot.finishing
    const change = decide(snapshot)
    const seen = await write({
      instance: keyOf(instanceId),
      binding: optionalKey(bindingId),
      predecessor: optionalKey(snapshot.binding?.predecessorId),
      version,
      now,
      ...toWritten(sealer, change),
    })
    if (seen?.outcome === 'written') return change
    looked = toLooked(sealer, lease, seen)
  }
  if (looked !== undefined) throw contended()
  return undefined
}

/** Undefined where the lease is lost. */
function toLooked(sealer: Sealer, { operationId, fence }: Lease, seen: SqlRow | undefined): Looked | undefined {
  const id = keyOf(operationId)
  const own = [inner(seen?.operation), inner(seen?.binding_operation)].find(row => row?.id === id)
  if (own === undefined || own.fence !== fence || own.state !== 'running') return undefined
  const snapshot = { ...toSnapshot(sealer, seen), finishing: toOperation(sealer, own) }
  return { snapshot, version: text(seen?.version), now: null }
}

/** Each round that is lost is one that another replica has won; so many in a row mean that something is wrong. */
const rounds = 200

function contended(): StoreUnavailableError {
  return new StoreUnavailableError(`the instance was changed ${rounds} times while a change of it was decided`)
}

function toSnapshot(sealer: Sealer, row: SqlRow | undefined): Snapshot {
  if (row === undefined) throw new Error('the ledger gave no snapshot')
  const [instance, binding, predecessor] = [inner(row.instance), inner(row.binding), inner(row.predecessor)]
  const [operation, bindingOperation] = [inner(row.operation), inner(row.binding_operation)]
  return {
    now: Number(row.now),
    instance: instance && toInstance(sealer, instance),
    operation: operation && toOperation(sealer, operation),
    binding: binding && toBinding(sealer, binding),
    bindingOperation: bindingOperation && toOperation(sealer, bindingOperation),
    predecessor: predecessor && toBinding(sealer, predecessor),
    liveBindings: Number(row.live),
    busyBindings: Number(row.busy) % sweptUnit,
    sweptBindings: Math.floor(Number(row.busy) / sweptUnit),
  }
}

/** A decision on its way, as write() takes it. */
interface Write {
  readonly instance: string
  readonly binding: string | null
  readonly predecessor: string | null
  /** What it was decided from; none for a new instance. */
  readonly version: string | null
  /** When it was decided, where that was done without looking. */
  readonly now: number | null
  /** The change, as JSON. */
  readonly change: string
  readonly copySteps?: Change['copySteps']
  readonly notes?: Change['notes']
  readonly within?: Change['within']
}

/** What is sent of a change. */
type Written = Pick<Write, 'change' | 'copySteps' | 'notes' | 'within'>

function toWritten(sealer: Sealer, change: Change): Written {
  const { copySteps, notes, within } = change
  return { change: fromChange(sealer, change), copySteps, notes, within }
}

/** Writes it if it still holds. Answers the row of write(): whether it was written, else what there is now. */
function createWriter({ run, statements, sealer }: Calls, gather: Gather) {
  let last = 0

  /** What is sealed of a step belongs to its operation: it is sealed again for the other one. Those that are done stay so. */
  async function stepsFor({ from, to }: NonNullable<Change['copySteps']>): Promise<string> {
    const rows = await run(statements.doneSteps, [keyOf(from)])
    const key = keyOf(to)
    return JSON.stringify(rows.map(({ row }) => fromStep(sealer, key, toStep(sealer, inner(row) ?? {}))))
  }

  return async (decision: Write): Promise<SqlRow> => {
    const { instance, binding, predecessor, version, change, now, copySteps, notes, within } = decision
    if (copySteps !== undefined || notes !== undefined || within !== undefined) {
      const more = [
        optionalKey(copySteps?.to),
        copySteps ? await stepsFor(copySteps) : null,
        notes ? fromWrites(notes) : null,
      ]
      const values = [instance, binding, predecessor, version, change, now, ...more]
      if (within === undefined) return (await run(statements.writeMore, values))[0] ?? {}
      const [row] = await run(statements.writeWithin, [...values, fromWithin(within)])
      refuseOver(within, row ?? {})
      return row ?? {}
    }
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
