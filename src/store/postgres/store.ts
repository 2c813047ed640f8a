import type { Keyring } from '../../sealing.ts'
import type { Lease, Store, WakeUp } from '../../store.ts'
import { type Methods, runMethods } from '../methods.ts'
import { createSealer } from '../sealing.ts'
import { type WakeUps, wakeUpsOf } from '../wake-ups.ts'
import { accept, createDeciding, finish } from './accept.ts'
import { createBulletins } from './bulletins.ts'
import { createChain } from './chain.ts'
import { createChores } from './chores.ts'
import { claimDue } from './claim.ts'
import { cleanUp } from './clean-up.ts'
import type { Database } from './database.ts'
import { readOnly } from './failures.ts'
import { createGathered } from './gathered.ts'
import { createHeldRows } from './held-rows.ts'
import type { Listener } from './listener.ts'
import { createLists } from './lists.ts'
import { changeCatalog, createCatalogReads } from './marketplace.ts'
import { createMoving } from './moving.ts'
import { createNames } from './names.ts'
import { createNotes } from './notes.ts'
import { createCheckpoints, handBack, park, renew } from './progress.ts'
import { purge } from './purge.ts'
import { createQuotaReads } from './quota.ts'
import { createReads } from './reads.ts'
import { createSealing } from './seal-again.ts'
import type { ServerClock } from './server-clock.ts'
import { share } from './share.ts'
import type { Statements } from './statements.ts'
import { createTurns } from './turns.ts'
import type { Witness } from './witness.ts'

export interface PostgresStoreParts {
  readonly name: string
  /** Quoted. */
  readonly schema: string
  readonly database: Database
  readonly statements: Statements
  readonly keyring?: Keyring
  readonly clock: ServerClock
  readonly witness: Pick<Witness, 'stands'>
  readonly wakeUps: WakeUps
  /** None: other replicas' wake-ups are not heard, and work is found by polling. */
  readonly listener?: Listener
}

export function createPostgresStore(parts: PostgresStoreParts): Store {
  const { name, schema, database, statements, clock, witness, wakeUps, listener } = parts
  const instances = createTurns()
  const operations = createTurns()
  const { during, run } = database
  const sealer = createSealer(parts.keyring)
  const calls = { run, statements, sealer }
  const gather = createGathered(calls, clock)
  const held = createHeldRows()
  const writeCheckpoint = createCheckpoints(calls, gather, held)
  const deciding = createDeciding(calls, clock, gather, held)

  /** A worker's writes are done in the order in which it made them, though each may get another connection. */
  function inTurn<Result>(lease: Lease, lost: Result, write: () => Promise<Result>): Promise<Result> {
    return operations.take(lease.operationId, async () => (witness.stands(lease) ? write() : lost))
  }

  function wake(list: readonly WakeUp[]): void {
    wakeUps.send(list)
    listener?.tell(list)
  }

  const methods: Methods = {
    ...createReads(calls),
    ...createQuotaReads(calls),
    ...createLists(run, schema),
    ...createChores(calls),
    ...createNames(calls),
    ...createNotes(calls),
    ...createBulletins(calls),
    cleanUp: wanted => cleanUp(calls, wanted),
    purge: (before, max) => purge(calls, before, max),

    accept: (target, decide, taker) =>
      instances.take(target.instanceId, async () => {
        const { answer, written } = await accept(deciding, target, decide, taker)
        if (written !== undefined) wake(wakeUpsOf(written))
        return answer
      }),
    finish: (lease, decide) =>
      inTurn(lease, false, async () => {
        const change = await finish(deciding, lease, decide)
        if (change !== undefined) wake(wakeUpsOf(change))
        return change !== undefined
      }),

    async claim(owner, max, leaseMs, leftOut) {
      const claims = await claimDue(calls, held, { owner, max, leaseMs, leftOut })
      clock.learn(claims.now)
      return claims
    },
    renew(leases, leaseMs) {
      for (const lease of leases) held.forget(lease)
      return renew(calls, leases.filter(witness.stands), leaseMs)
    },
    checkpoint: (lease, checkpoint) => inTurn(lease, false, () => writeCheckpoint(lease, checkpoint)),
    park: (lease, parking) =>
      inTurn(lease, false, async () => {
        held.forget(lease)
        const parked = await park(calls, lease, parking)
        if (parked) wake([{ type: 'work' }])
        return parked
      }),
    handBack: lease =>
      inTurn(lease, undefined, async () => {
        held.forget(lease)
        if (await handBack(calls, lease)) wake([{ type: 'work' }])
      }),
    share: (lease, key, wish) => inTurn(lease, undefined, () => share(calls, lease, key, wish)),

    ...createCatalogReads(calls),
    async changeCatalog(version, changes, report) {
      const { written, changed } = await changeCatalog({ ...database, statements }, version, changes, report)
      if (changed) wake([{ type: 'catalog' }])
      return written
    },

    async ping() {
      const [row] = await run(statements.ping, [])
      if (row?.read_only !== false) throw readOnly(name)
    },
  }

  const moving = createMoving(database, schema, sealer)

  const sealing = createSealing(run, schema, sealer)

  const chain = createChain({ database, schema, statements, sealer })

  return {
    name,
    sealing: {
      ...sealing,
      uses: () => during(() => sealing.uses()),
      sealAgain: (from, max) => during(() => sealing.sealAgain(from, max)),
    },
    chain: {
      linked: (after, max) => during(() => chain.linked(after, max)),
      unlinked: max => during(() => chain.unlinked(max)),
      countUnlinked: () => during(() => chain.countUnlinked()),
      countStray: ends => during(() => chain.countStray(ends)),
      link: (lines, note) => during(() => chain.link(lines, note)),
      drop: (upTo, note) => during(() => chain.drop(upTo, note)),
    },
    moving: {
      exportRows: take => during(() => moving.exportRows(take)),
      importState: () => during(() => moving.importState()),
      importRows: (rows, progress) => during(() => moving.importRows(rows, progress)),
    },
    ...runMethods(methods, method => during(async () => method())),
    onWakeUp: listener => wakeUps.listen(listener),
    async close() {
      await Promise.all([database.close(), listener?.close()])
    },
  }
}
