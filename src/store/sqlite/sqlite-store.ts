import type { Clock } from '../../clock.ts'
import type { Binding, Instance, Operation, Store, Target } from '../../store.ts'
import { StoreUnavailableError } from '../../store.ts'
import { createWakeUps } from '../wake-ups.ts'
import { claimDue } from './claim.ts'
import { type Database, resultCode } from './driver.ts'
import { toStoreError } from './failures.ts'
import { createGroupCommit, type Job } from './group-commit.ts'
import { handBack, park, writeCheckpoint } from './progress.ts'
import { text, toHistory, toOperation, toRow } from './rows.ts'
import { share } from './share.ts'
import { applyChange, readBinding, readSnapshot } from './snapshot.ts'
import { prepareAll, type Statements } from './statements.ts'

export interface SqliteStoreParts {
  readonly database: Database
  readonly file: string
  readonly clock: Clock
  /** Called once, with the database closed. */
  readonly onClosed: () => void
}

/** The store on an open database that is ours alone. Writes go through the group commit; reads see all that is committed. */
export function createSqliteStore({ database, file, clock, onClosed }: SqliteStoreParts): Store {
  const statements = prepareAll(database)
  const wakeUps = createWakeUps()
  const transactions = {
    begin: () => database.exec('BEGIN IMMEDIATE'),
    commit: () => database.exec('COMMIT'),
    rollback: () => rollback(database),
    isDatabaseError: (error: unknown) => resultCode(error) !== undefined,
  }
  const commits = createGroupCommit(transactions, wakeUps.send)
  let open = true

  async function translated<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    if (!open) throw new StoreUnavailableError(`sqlite:${file} is closed`)
    try {
      return await work()
    } catch (error) {
      throw toStoreError(error, file)
    }
  }

  const decided = <Result>(job: Job<Result>) => translated(() => commits.run(job))
  const written = <Result>(write: () => Result) => decided(() => write)

  return {
    name: `sqlite:${file}`,

    accept: (target, decide) =>
      decided(wake => {
        const { answer, change } = decide(readSnapshot(statements, clock.now(), target))
        return () => {
          if (change !== undefined) applyChange(statements, change, wake)
          return answer
        }
      }),
    finish: (lease, decide) =>
      decided(wake => {
        const row = statements.heldOperation.get(lease.operationId, lease.fence)
        if (row === undefined) return () => false
        const finishing = toOperation(row)
        const target = targetOf(statements, finishing)
        const change = decide({ ...readSnapshot(statements, clock.now(), target, finishing), finishing })
        return () => {
          applyChange(statements, change, wake)
          return true
        }
      }),

    claim: (owner, max, leaseMs) => written(() => claimDue(statements, { owner, max, leaseMs, now: clock.now() })),
    renew: (leases, leaseMs) =>
      written(() => {
        const now = clock.now()
        return leases.filter(
          ({ operationId, fence }) => statements.renew.run(now + leaseMs, operationId, fence, now) > 0,
        )
      }),
    checkpoint: (lease, checkpoint) => written(() => writeCheckpoint(statements, lease, checkpoint, clock.now())),
    park: (lease, parking) =>
      decided(wake => () => {
        const parked = park(statements, lease, parking)
        if (parked) wake.push({ type: 'work' })
        return parked
      }),
    handBack: lease =>
      decided(wake => () => {
        if (handBack(statements, lease, clock.now())) wake.push({ type: 'work' })
      }),
    share: (lease, key, wish) => written(() => share(statements, lease, key, wish, clock.now())),

    instance: id =>
      translated(() => {
        const row = statements.instance.get(id)
        return row === undefined ? undefined : toRow<Instance>(row.doc, row.sealed)
      }),
    binding: (instanceId, id) => translated(() => readBinding(statements, instanceId, id)),
    bindings: instanceId =>
      translated(() => statements.bindings.all(instanceId).map(row => toRow<Binding>(row.doc, row.sealed))),
    operation: id =>
      translated(() => {
        const row = statements.operation.get(id)
        return row === undefined ? undefined : toOperation(row)
      }),
    dueForObservation: max =>
      translated(() => statements.dueForObservation.all(clock.now(), Math.max(0, max)).map(row => text(row.id))),
    history: instanceId => translated(() => statements.history.all(instanceId).map(toHistory)),

    ping: () =>
      translated(() => {
        statements.lastFence.get()
      }),
    onWakeUp: listener => wakeUps.listen(listener),
    async close() {
      if (!open) return
      open = false
      commits.flush()
      release(database)
      database.close()
      onClosed()
    },
  }
}

function targetOf(statements: Statements, { instanceId, bindingId }: Operation): Target {
  if (bindingId === undefined) return { instanceId }
  const predecessorId = readBinding(statements, instanceId, bindingId)?.predecessorId
  return { instanceId, bindingId, ...(predecessorId === undefined ? {} : { predecessorId }) }
}

/**
 * Ends the lock before the database is closed (libsql keeps it as long as a statement lives), and leaves one plain file,
 * without a log beside it. Where that can't be done now, the next start does it.
 */
function release(database: Database): void {
  try {
    database.exec('PRAGMA journal_mode = DELETE; PRAGMA locking_mode = NORMAL; SELECT count(*) FROM sqlite_schema')
  } catch (error) {
    if (resultCode(error) === undefined) throw error
  }
}

/** A full disk makes SQLite roll back by itself, and then there is nothing left to roll back: that is no error. */
function rollback(database: Database): void {
  try {
    database.exec('ROLLBACK')
  } catch (error) {
    if (resultCode(error) === undefined) throw error
  }
}
