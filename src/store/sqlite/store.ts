import type { Chain } from '../../chain.ts'
import type { Clock } from '../../clock.ts'
import type { Keyring, Sealing } from '../../sealing.ts'
import { type Change, type Moving, type Store, StoreUnavailableError, type WakeUp } from '../../store.ts'
import { toChore } from '../columns.ts'
import { type Methods, runMethods } from '../methods.ts'
import { createSealer } from '../sealing.ts'
import { createWakeUps } from '../wake-ups.ts'
import { accept, applyChange, finish } from './accept.ts'
import { putBulletin, readBulletins } from './bulletins.ts'
import { createChain } from './chain.ts'
import { takeChore } from './chores.ts'
import { claimDue } from './claim.ts'
import { cleanUp } from './clean-up.ts'
import { type Database, resultCode } from './driver.ts'
import { toStoreError } from './failures.ts'
import { createGroupCommit } from './group-commit.ts'
import { createLists } from './lists.ts'
import { changeCatalog, readCatalog, readRegistries, readUses } from './marketplace.ts'
import { createMoving } from './moving.ts'
import { takeName } from './names.ts'
import { forgetNotes, readNote, readNotes, writeNotes } from './notes.ts'
import { handBack, park, writeCheckpoint } from './progress.ts'
import { purge } from './purge.ts'
import { readPlatforms, readPlatformUse } from './quota.ts'
import { createReads } from './reads.ts'
import { bindingKey, createRowCache, type RowCache } from './row-cache.ts'
import { createSealing } from './seal-again.ts'
import { share } from './share.ts'
import { prepareAll } from './statements.ts'

export interface SqliteStoreParts {
  readonly database: Database
  readonly file: string
  readonly clock: Clock
  readonly keyring?: Keyring
  /** Throws where the files on the disk are no longer those that are open. */
  readonly checkFiles: () => void
  /** Opens another file as this one was. */
  readonly openCopy: (file: string) => Database
  /** Called once, with the database closed. */
  readonly onClosed: () => void
}

/** The store on an open database that is ours alone. Writes go through the group commit; reads see all that is committed. */
export function createSqliteStore(parts: SqliteStoreParts): Store {
  const { database, file, clock, checkFiles, openCopy, onClosed } = parts
  const statements = prepareAll(database)
  const calls = { statements, sealer: createSealer(parts.keyring), clock }
  const wakeUps = createWakeUps()
  const transactions = {
    begin: () => database.exec('BEGIN IMMEDIATE'),
    commit() {
      checkFiles()
      database.exec('COMMIT')
    },
    // A full disk makes SQLite roll back by itself, and then there is nothing left to roll back: that is no error.
    rollback: () => tryExec(database, 'ROLLBACK'),
    isDatabaseError: (error: unknown) => resultCode(error) !== undefined,
    translate: (error: unknown) => toStoreError(error, file),
  }
  const commits = createGroupCommit(transactions, wakeUps.send)
  const cache = createRowCache()
  let open = true

  /** No promise but the method's own: requests and steps make many calls. */
  function run<Result>(method: () => Result): Promise<Awaited<Result>>
  function run(method: () => unknown): Promise<unknown> {
    if (!open) return Promise.reject(new StoreUnavailableError(`sqlite:${file} is closed`))
    try {
      return Promise.resolve(method())
    } catch (error) {
      return Promise.reject(toStoreError(error, file))
    }
  }

  function apply(change: Change, wake: WakeUp[]): void {
    const emptied = applyChange(calls, change, wake)
    forgetChanged(cache, change)
    for (const id of emptied) cache.operations.forget(id)
  }

  const written = <Result>(write: () => Result) => commits.run(() => write)

  const reads = createReads(calls, cache)
  const lists = createLists(database)
  const methods: Methods = {
    ...reads,
    ...lists,
    platforms: () => readPlatforms(statements),
    platformUse: platform => readPlatformUse(statements, platform),
    survey: endedSince => lists.survey(endedSince, clock.now()),

    accept: (target, decide) =>
      commits.run(wake => {
        const { answer, change } = accept(calls, target, decide)
        return () => {
          if (change !== undefined) apply(change, wake)
          return answer
        }
      }),
    finish: (lease, decide) =>
      commits.run(wake => {
        const change = finish(calls, lease, decide)
        return () => {
          if (change !== undefined) apply(change, wake)
          return change !== undefined
        }
      }),
    claim: (owner, max, leaseMs, leftOut) =>
      written(() => {
        const claimed = claimDue(calls, { owner, max, leaseMs, leftOut })
        for (const { operation } of claimed.claims) cache.operations.forget(operation.id)
        return claimed
      }),
    renew: (leases, leaseMs) =>
      written(() => {
        const now = clock.now()
        for (const { operationId } of leases) cache.operations.forget(operationId)
        return leases.filter(
          ({ operationId, fence }) => statements.renew.run(now + leaseMs, operationId, fence, now) > 0,
        )
      }),
    checkpoint: (lease, checkpoint) =>
      written(() => {
        if (checkpoint.state === undefined) cache.operations.forget(lease.operationId)
        else cache.clear()
        return writeCheckpoint(calls, lease, checkpoint)
      }),
    park: (lease, parking) =>
      commits.run(wake => () => {
        cache.operations.forget(lease.operationId)
        const parked = park(calls, lease, parking)
        if (parked) wake.push({ type: 'work' })
        return parked
      }),
    handBack: lease =>
      commits.run(wake => () => {
        cache.clear()
        if (handBack(statements, lease, clock.now())) wake.push({ type: 'work' })
      }),
    share: (lease, key, wish) => written(() => share(calls, lease, key, wish)),

    takeName: taking =>
      written(() => {
        cache.clear()
        return takeName(statements, taking, clock.now())
      }),
    renewName: (name, owner) => written(() => statements.renewName.run(clock.now(), name, owner) > 0),
    releaseName: (name, owner) => written(() => void statements.releaseName.run(clock.now(), name, owner)),

    takeChore: taking => written(() => takeChore(statements, taking, clock.now())),
    renewChore: ({ name, fence }, leaseTime) =>
      written(() => statements.renewChore.run(clock.now() + leaseTime, clock.now(), name, fence) > 0),
    finishChore: ({ name, fence }, result) =>
      written(() => statements.finishChore.run(clock.now(), JSON.stringify(result), name, fence) > 0),
    chores: () => ({ now: clock.now(), chores: statements.chores.all().map(toChore) }),

    putBulletin: bulletin => written(() => putBulletin(statements, bulletin, clock.now())),
    bulletins: kind => readBulletins(statements, kind, clock.now()),

    cleanUp: wanted =>
      written(() => {
        const removed = cleanUp(statements, wanted, clock.now())
        for (const id of removed) cache.operations.forget(id)
        return removed.length
      }),
    purge: (before, max) =>
      written(() => {
        cache.clear()
        return purge(statements, before, max, clock.now())
      }),

    note: (kind, id) => readNote(statements, kind, id),
    notes: (kind, query) => readNotes(statements, kind, query),
    writeNotes: writes => written(() => writeNotes(statements, writes)),
    forgetNotes: max => written(() => forgetNotes(statements, max, clock.now())),

    catalog: known => readCatalog(statements, known),
    registries: () => ({ now: clock.now(), ...readRegistries(statements) }),
    revisionUses: () => readUses(statements),
    changeCatalog: (version, changes, report) =>
      commits.run(wake => () => {
        const { written, changed } = changeCatalog(calls, version, changes, report)
        if (changed) wake.push({ type: 'catalog' })
        return written
      }),

    // Writes: a disk that is full can still be read.
    ping: () => written(() => void statements.countPing.run()),
  }

  const moving = createMoving({
    database,
    calls,
    file,
    openCopy,
    flush: commits.flush,
    written: write =>
      written(() => {
        cache.clear()
        write()
      }),
  })

  const sealing = createSealing({ database, sealer: calls.sealer, written, flush: commits.flush })

  const chain = createChain({ database, calls, written })

  return {
    name: `sqlite:${file}`,
    sealing: {
      ...sealing,
      uses: () => run(sealing.uses),
      sealAgain: (from, max) => run(() => sealing.sealAgain(from, max)),
    } as Sealing,
    moving: {
      exportRows: take => run(() => moving.exportRows(take)),
      importState: () => run(moving.importState),
      importRows: (rows, progress) => run(() => moving.importRows(rows, progress)),
      backup: target => run(() => moving.backup?.(target)),
    } as Moving,
    chain: {
      linked: (after, max) => run(() => chain.linked(after, max)),
      unlinked: max => run(() => chain.unlinked(max)),
      countUnlinked: () => run(chain.countUnlinked),
      countStray: ends => run(() => chain.countStray(ends)),
      link: (lines, note) => run(() => chain.link(lines, note)),
      drop: (upTo, note) => run(() => chain.drop(upTo, note)),
    } as Chain,
    known: {
      instance: cache.instances.get,
      binding: (instanceId, id) => cache.bindings.get(bindingKey(instanceId, id)),
      operation: cache.operations.get,
    },
    ...runMethods(methods, run),
    onWakeUp: listener => wakeUps.listen(listener),
    async close() {
      if (!open) return
      open = false
      commits.flush()
      cache.clear()
      tryExec(database, release)
      database.close()
      onClosed()
    },
  }
}

function forgetChanged(
  cache: RowCache,
  { instance, bindings = [], operations = [], deleteOperations = [] }: Change,
): void {
  if (instance !== undefined) cache.instances.forget(instance.id)
  for (const { instanceId, id } of bindings) cache.bindings.forget(bindingKey(instanceId, id))
  for (const { id } of operations) cache.operations.forget(id)
  for (const id of deleteOperations) cache.operations.forget(id)
}

/**
 * Ends the lock before the database is closed (libsql keeps it as long as a statement lives), and leaves one plain file,
 * without a log beside it. Where that cannot be done now, the next start does it.
 */
const release = 'PRAGMA journal_mode = DELETE; PRAGMA locking_mode = NORMAL; SELECT count(*) FROM sqlite_schema'

/** Where SQLite refuses it, nothing is done. */
function tryExec(database: Database, sql: string): void {
  try {
    database.exec(sql)
  } catch (error) {
    if (resultCode(error) === undefined) throw error
  }
}
