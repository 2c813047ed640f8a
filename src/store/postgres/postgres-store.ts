import type { Binding, HistoryEvent, Lease, Step, Store, WakeUp } from '../../store.ts'
import { StoreUnavailableError } from '../../store.ts'
import { text, toText } from '../columns.ts'
import { keyOf } from '../keys.ts'
import { type WakeUps, wakeUpsOf } from '../wake-ups.ts'
import { changeCatalog, toCatalog, toRegistries, toUses } from './catalog.ts'
import { createCheckpoints } from './checkpoints.ts'
import { toChores } from './chores.ts'
import { toClaims } from './claim.ts'
import type { Database } from './database.ts'
import { accept, finish } from './decide.ts'
import type { SqlRow } from './driver.ts'
import type { Listener } from './listener.ts'
import { createLists } from './lists.ts'
import { fromStep, inner, toBinding, toInstance, toOperation, toStep } from './rows.ts'
import type { ServerClock } from './server-clock.ts'
import { share } from './share.ts'
import type { Statements } from './statements.ts'
import { createTurns } from './turns.ts'
import { createHeldReader, createWriter } from './writes.ts'

export interface PostgresStoreParts {
  readonly name: string
  /** Quoted. */
  readonly schema: string
  readonly database: Database
  readonly statements: Statements
  readonly clock: ServerClock
  readonly wakeUps: WakeUps
  readonly listener: Listener
}

export function createPostgresStore(parts: PostgresStoreParts): Store {
  const { name, schema, database, statements, clock, wakeUps, listener } = parts
  const instances = createTurns()
  const operations = createTurns()
  const { during, run } = database
  const lists = createLists(run, schema)
  const writeCheckpoint = createCheckpoints(database, statements)
  const deciding = {
    database,
    statements,
    clock,
    lookHeld: createHeldReader(database, statements),
    write: createWriter(database, statements),
  }

  /** A worker's writes are done in the order in which it made them, though each may get another connection. */
  function inTurn<Result>(lease: Lease, write: () => Promise<Result>): Promise<Result> {
    return during(() => operations.take(lease.operationId, write))
  }

  function wake(list: readonly WakeUp[]): void {
    wakeUps.send(list)
    listener.tell(list)
  }

  async function read<Row>(rows: Promise<readonly SqlRow[]>, convert: (row: SqlRow) => Row): Promise<Row | undefined> {
    const [found] = await rows
    const row = inner(found?.row)
    return row === undefined ? undefined : convert(row)
  }

  return {
    name,

    accept: (target, decide) =>
      during(() =>
        instances.take(target.instanceId, async () => {
          const { answer, change } = await accept(deciding, target, decide)
          if (change !== undefined) wake(wakeUpsOf(change))
          return answer
        }),
      ),
    finish: (lease, decide) =>
      inTurn(lease, async () => {
        const change = await finish(deciding, lease, decide)
        if (change !== undefined) wake(wakeUpsOf(change))
        return change !== undefined
      }),

    claim: (owner, max, leaseMs) =>
      during(async () => {
        const claims = toClaims(await run(statements.claim, [owner, Math.max(0, max), leaseMs]))
        clock.learn(claims.now)
        return claims
      }),
    renew: (leases, leaseMs) =>
      during(async () => {
        const ids = leases.map(lease => keyOf(lease.operationId))
        const rows = await run(statements.renew, [ids, leases.map(lease => lease.fence), leaseMs])
        const held = new Map(rows.map(row => [row.fence, row.id]))
        return leases.filter(({ fence }, index) => held.get(fence) === ids[index])
      }),
    checkpoint: (lease, checkpoint) => inTurn(lease, () => writeCheckpoint(lease, checkpoint)),
    park: (lease, { until, description, step }) =>
      inTurn(lease, async () => {
        const values = [
          keyOf(lease.operationId),
          lease.fence,
          until,
          toText(description),
          step ? JSON.stringify(fromStep(step)) : null,
        ]
        const [row] = await run(statements.park, values)
        if (row?.held === true) wake([{ type: 'work' }])
        return row?.held === true
      }),
    handBack: lease =>
      inTurn(lease, async () => {
        const [row] = await run(statements.handBack, [keyOf(lease.operationId), lease.fence])
        if (row?.opened === true) wake([{ type: 'work' }])
      }),
    share: (lease, key, wish) => inTurn(lease, () => share(database, statements, lease, key, wish)),

    instance: id => during(() => read(run(statements.instance, [keyOf(id)]), toInstance)),
    binding: (instanceId, id) => during(() => read(run(statements.binding, [keyOf(instanceId), keyOf(id)]), toBinding)),
    bindings: instanceId =>
      during(async () => {
        const rows = await run(statements.bindings, [keyOf(instanceId)])
        return rows.map((row): Binding => toBinding(row.row as SqlRow))
      }),
    operation: id => during(() => read(run(statements.operation, [keyOf(id)]), toOperation)),
    steps: operationId =>
      during(async () => {
        const rows = await run(statements.steps, [keyOf(operationId)])
        return rows.map((row): Step => toStep(row.row as SqlRow))
      }),
    dueForObservation: max =>
      during(async () => {
        const rows = await run(statements.dueForObservation, [Math.max(0, max)])
        return rows.map(row => text(JSON.parse(text(row.doc)).id))
      }),
    history: instanceId =>
      during(async () => {
        const rows = await run(statements.history, [keyOf(instanceId)])
        return rows.map((row): HistoryEvent => JSON.parse(text(row.doc)))
      }),
    listInstances: (query = {}) => during(() => lists.instances(query)),
    listBindings: (query = {}) => during(() => lists.bindings(query)),
    listOperations: (query = {}) => during(() => lists.operations(query)),

    takeChore: ({ name, dueAt, owner, leaseMs }) =>
      during(async () => {
        const [row] = await run(statements.takeChore, [name, dueAt, owner, leaseMs])
        return row === undefined ? undefined : { name, fence: Number(row.fence) }
      }),
    renewChore: (lease, leaseMs) =>
      during(async () => (await run(statements.renewChore, [lease.name, lease.fence, leaseMs])).length > 0),
    finishChore: (lease, result) =>
      during(async () => {
        const rows = await run(statements.finishChore, [lease.name, lease.fence, JSON.stringify(result)])
        return rows.length > 0
      }),
    chores: () => during(async () => toChores(await run(statements.chores, []))),
    cleanUp: ({ of, states, before, max }) =>
      during(async () => {
        const [row] = await run(statements.cleanUp, [of, states, before, Math.max(0, max)])
        return Number(row?.removed)
      }),
    purge: (before, max) =>
      during(async () => Number((await run(statements.purge, [before, Math.max(0, max)]))[0]?.removed)),

    catalog: known => during(async () => toCatalog(await run(statements.catalog, [known ?? null]))),
    registries: () => during(async () => toRegistries(await run(statements.registries, []))),
    revisionUses: () => during(async () => toUses(await run(statements.revisionUses, []))),
    changeCatalog: (version, changes, report) =>
      during(async () => {
        const { written, changed } = await changeCatalog(database, statements, version, changes, report)
        if (changed) wake([{ type: 'catalog' }])
        return written
      }),

    ping: () =>
      during(async () => {
        const [row] = await run(statements.ping, [])
        if (row?.read_only !== false) throw new StoreUnavailableError(`${name} is read-only: name the primary server`)
      }),
    onWakeUp: listener => wakeUps.listen(listener),
    async close() {
      await Promise.all([database.close(), listener.close()])
    },
  }
}
