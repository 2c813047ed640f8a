/**
 * What a storm meets by chance, on purpose: real processes are led to where one guard is all that stands between them and the
 * damage. Each scenario answers what the checker found in the end.
 */
import { check } from './checker.ts'
import { type Replica, until } from './cluster.ts'
import { readLedger, untilIdle, withLedger } from './ledger.ts'
import { type Actor, Player } from './platforms.ts'
import { type LedgerNote, monotonicNow, timeLimit } from './record.ts'
import type { PlanId } from './service.ts'
import type { Timing } from './settings.ts'
import type { World } from './world.ts'

export interface Scenario {
  readonly timing: Timing
  /**
   * `instance` has not been used before. What does not end within `patienceMs` is judged as it is: where a guard is off, some
   * operations never end.
   */
  play(world: World, instance: string, patienceMs: number): Promise<readonly string[]>
}

const usual: Timing = { leaseMs: 5_000, callTimeoutMs: 2_000 }

/** The holder of an operation is stopped until another one has it; then it goes on, and writes. */
const zombie: Scenario = {
  timing: usual,
  async play(world, instance, patienceMs) {
    const { cluster } = world
    const { player, actor } = enter(world, instance, 'raw')
    const gate = `look ${instance}/network gate`
    await cluster.order({ hold: gate })
    const operation = await player.begin('provision', 'small')
    await untilWaiting(world, gate)
    const before = await claimOf(world, operation, 0)
    const holder = replicaOf(world, before)
    holder.signal('SIGSTOP')
    const after = await claimOf(world, operation, before.fence)
    holder.signal('SIGCONT')
    await until('the old holder has tried to write', async () =>
      cluster.notes().some(({ fence, type, start }) => fence === before.fence && type !== 'claim' && start > after.end),
    )
    await cluster.order({ release: gate })
    return judge(world, actor, player, patienceMs)
  },
}

/**
 * The holder of a creation does not hear of the deletion, since it is cut off from the ledger, and works on under a lease
 * that still stands. When the deletion has ended and was swept, it makes another thing.
 */
const deafHolder: Scenario = {
  timing: { leaseMs: 8_000, callTimeoutMs: 500 },
  async play(world, instance, patienceMs) {
    const { cluster, database } = world
    const { player, actor } = enter(world, instance, 'raw')
    const gate = `look ${instance}/network gate`
    await cluster.order({ hold: gate })
    const operation = await player.begin('provision', 'small')
    await untilWaiting(world, gate)
    const holder = replicaOf(world, await claimOf(world, operation, 0))
    holder.network.freeze()
    const frozenAt = monotonicNow()
    const others = cluster.replicas.filter(replica => replica !== holder)
    await playerOf(world, actor, others).begin('deprovision')
    await withLedger(database, store => untilIdle(store, [instance], timeLimit(patienceMs)))
    await cluster.order({ release: gate })
    await until('the lease of the holder is over, or it has done what it should not', async () => {
      const { things } = await cluster.backendRecord()
      return things[`${instance}/disk`] !== undefined || monotonicNow() > frozenAt + deafHolder.timing.leaseMs
    })
    holder.network.thaw()
    return judge(world, actor, player, patienceMs)
  },
}

/** A call of a creation lands when the deletion that took over from it has ended. */
const lateCall: Scenario = {
  timing: usual,
  async play(world, instance, patienceMs) {
    const { cluster } = world
    const { player, actor } = enter(world, instance, 'steps')
    const call = `put ${instance}/network`
    await cluster.order({ hold: call })
    await player.begin('provision', 'small')
    await untilWaiting(world, call)
    const deletion = await player.begin('deprovision')
    await player.follow(deletion, undefined, timeLimit(patienceMs))
    await cluster.order({ release: call })
    return judge(world, actor, player, patienceMs)
  },
}

/** Two updates that exclude each other, at the same time at two replicas, many times. */
const race: Scenario = {
  timing: usual,
  async play(world, instance, patienceMs) {
    const { player, actor } = enter(world, instance, 'steps')
    await player.follow(await player.begin('provision', 'small'), undefined, () => false)
    for (let round = 0; round < 15; round += 1) {
      const asked = await player.askAtOnce([
        { action: 'update', variant: 'small' },
        { action: 'update', variant: 'large' },
        { action: 'update', variant: `${round}` },
      ])
      const limit = timeLimit(patienceMs)
      for (const { operation } of asked) if (operation !== undefined) await player.follow(operation, undefined, limit)
      if (limit()) break
    }
    return judge(world, actor, player, patienceMs)
  },
}

export const scenarios = { zombie, deafHolder, lateCall, race }

function enter(world: World, instance: string, plan: PlanId): { readonly actor: Actor; readonly player: Player } {
  const actor: Actor = { platform: 'cloud', instance, plan, events: [] }
  return { actor, player: playerOf(world, actor, world.cluster.replicas) }
}

function playerOf({ random }: World, actor: Actor, replicas: readonly Replica[]): Player {
  return new Player(actor, random.fork(actor.instance), () => replicas.flatMap(({ url = [] }) => url))
}

/** The latest claim of the operation, with a fence above the given one. */
async function claimOf({ cluster }: World, operation: string, above: number): Promise<LedgerNote> {
  let found: LedgerNote | undefined
  await until(`${operation} is claimed`, async () => {
    const claims = cluster.notes().filter(note => note.type === 'claim' && note.operation === operation)
    found = claims.findLast(({ fence }) => fence > above)
    return found !== undefined
  })
  if (found === undefined) throw new Error(`${operation} was not claimed`)
  return found
}

function replicaOf({ cluster }: World, { replica }: LedgerNote): Replica {
  const found = cluster.replicas.find(({ name }) => replica.startsWith(`${name}/`))
  if (found === undefined) throw new Error(`there is no ${replica}`)
  return found
}

function untilWaiting({ cluster }: World, call: string): Promise<void> {
  return until(`${call} is kept waiting`, async () => (await cluster.backendRecord()).waiting?.includes(call) === true)
}

async function judge(
  { cluster, database }: World,
  actor: Actor,
  player: Player,
  patienceMs: number,
): Promise<readonly string[]> {
  const limit = timeLimit(patienceMs)
  await player.followAll(limit)
  const events = new Map([[actor.instance, actor.events]])
  return withLedger(database, async store => {
    const busy = await untilIdle(store, [actor.instance], limit)
    const ledger = await readLedger(store, events)
    const { things, calls } = await cluster.backendRecord()
    const own = Object.entries(things).filter(([name]) => name.startsWith(`${actor.instance}/`))
    const backend = { things: Object.fromEntries(own), calls }
    return [...busy, ...check({ events, ledger, notes: cluster.notes(), backend })]
  })
}
