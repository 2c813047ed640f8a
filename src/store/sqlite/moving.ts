import { randomUUID } from 'node:crypto'
import { closeSync, openSync, rmSync } from 'node:fs'
import {
  byKind,
  exportedAtOnce,
  type LedgerRow,
  type LedgerRows,
  localNotes,
  type Moving,
  rowsOf,
} from '../../moving.ts'
import { StoreOpenError } from '../../store.ts'
import { text, toChore, toNote, toShared } from '../columns.ts'
import { toEvent } from '../sealing.ts'
import { appendEvent, applyChange } from './accept.ts'
import type { Database, SqlRow, SqlValue } from './driver.ts'
import { readRegistries } from './marketplace.ts'
import { writeStep } from './progress.ts'
import { eventKey, toBinding, toInstance, toOperation, toStep } from './rows.ts'
import { type Calls, prepareAll } from './statements.ts'

export interface MovingParts {
  readonly database: Database
  readonly calls: Calls
  readonly file: string
  /** Opens a file that nobody else has. */
  readonly openCopy: (file: string) => Database
  /** A transaction of its own. */
  readonly written: (write: () => void) => Promise<void>
  /** Does at once what waits to be written: a copy is made outside of any transaction. */
  readonly flush: () => void
}

/** A connection sees its own writes, and there is only one: what is exported is a copy of the file, made at one moment. */
export function createMoving(parts: MovingParts): Moving {
  const { database, calls, file } = parts

  function copyTo(target: string): void {
    createPrivate(target)
    parts.flush()
    try {
      database.exec(`VACUUM INTO '${target.replaceAll("'", "''")}'`)
    } catch (error) {
      rmSync(target, { force: true })
      throw error
    }
  }

  return {
    async backup(target) {
      copyTo(target)
    },
    async exportRows(take) {
      const copy = `${file}.export-${randomUUID()}`
      copyTo(copy)
      try {
        const opened = parts.openCopy(copy)
        try {
          const total = Number(opened.prepare(countAll).get()?.total)
          for (const rows of allRows(opened, { ...calls, statements: prepareAll(opened) }))
            if (rows.length > 0) await take(rows, total)
        } finally {
          opened.close()
        }
      } finally {
        for (const path of [copy, `${copy}-wal`, `${copy}-journal`]) rmSync(path, { force: true })
      }
    },
    async importState() {
      const row = database.prepare("select name, value from counter where name like 'import %'").get()
      const progress = row && { id: text(row.name).slice('import '.length), line: Number(row.value) }
      return { empty: Number(database.prepare(anything).get()?.found) === 0, progress }
    },
    importRows: (rows, progress) =>
      parts.written(() => {
        write(database, calls, rows)
        database.exec("delete from counter where name like 'import %'")
        if (progress !== undefined)
          database
            .prepare('insert into counter (name, value) values (?, ?)')
            .run(`import ${progress.id}`, progress.line)
      }),
  }
}

const countAll = `select ${['instance', 'binding', 'operation', 'step', 'history', 'shared_claim', 'revision', 'note']
  .map(table => `(select count(*) from ${table})`)
  .join(' + ')} as total`

const anything = `select exists (select 1 from instance) or exists (select 1 from history) or exists (select 1 from revision)
  or exists (select 1 from shared_resource) or exists (select 1 from note where kind not in (${localNotes.map(kind => `'${kind}'`)})) as found`

function createPrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    const exists = (error as NodeJS.ErrnoException).code === 'EEXIST'
    const why = exists ? 'there is one already: name another, or remove it' : (error as Error).message
    throw new StoreOpenError('unusable-path', `${file} cannot be made: ${why}`)
  }
}

function* allRows(database: Database, { statements, sealer }: Calls): Iterable<readonly LedgerRow[]> {
  const { version } = statements.catalog.get() ?? {}
  const { registries, lastChange } = readRegistries(statements)
  const fence = Number(database.prepare("select value from counter where name = 'fence'").get()?.value)
  yield rowsOf('ledger', [{ fence, catalogVersion: Number(version), lastChange }])
  yield* pages(database, 'revision', 'revision', toDoc)
  yield rowsOf('service', statements.services.all().map(toDoc))
  yield rowsOf('registry', registries)
  yield* pages(database, 'instance', 'instance', row => toInstance(sealer, row))
  yield* pages(database, 'binding', 'binding', row => toBinding(sealer, row))
  yield* pages(database, 'operation', 'operation', row => toOperation(sealer, row))
  yield* pages(database, 'step', 'step', row => ({
    ...toStep(sealer, row),
    operationId: text(row.operation_id),
  }))
  yield* pages(database, 'shared', 'shared_resource', row => toShared(text(row.key), row))
  yield* keyedPages(database, 'claim', ['shared_claim', 'resource_key', 'instance_id'], row => ({
    key: text(row.resource_key),
    instanceId: text(row.instance_id),
  }))
  yield rowsOf('chore', statements.chores.all().map(toChore))
  yield* pages(database, 'history', 'history', row => ({
    ...toEvent(sealer, eventKey(row), text(row.doc)),
    ...(row.chain_no !== null && { link: { no: Number(row.chain_no), hash: text(row.chain_hash) } }),
  }))
  yield* keyedPages(database, 'note', ['note', 'kind', 'id'], toNote)
}

/** In the order in which rows came. */
function* pages<Kind extends keyof LedgerRows>(
  database: Database,
  kind: Kind,
  table: string,
  convert: (row: SqlRow) => LedgerRows[Kind],
): Iterable<readonly LedgerRow[]> {
  const page = database.prepare(`select rowid as place, * from ${table} where rowid > ? order by rowid limit ?`)
  for (let after = 0; ; ) {
    const rows = page.all(after, exportedAtOnce)
    yield rowsOf(kind, rows.map(convert))
    if (rows.length < exportedAtOnce) return
    after = Number(rows.at(-1)?.place)
  }
}

/** In the order of a key of two columns, where rows have no number. */
function* keyedPages<Kind extends keyof LedgerRows>(
  database: Database,
  kind: Kind,
  [table, first, second]: readonly [string, string, string],
  convert: (row: SqlRow) => LedgerRows[Kind],
): Iterable<readonly LedgerRow[]> {
  const key = `${first}, ${second}`
  const page = database.prepare(`select * from ${table} where (${key}) > (?, ?) order by ${key} limit ?`)
  for (let after: readonly SqlValue[] = ['', '']; ; ) {
    const rows = page.all(...after, exportedAtOnce)
    yield rowsOf(kind, rows.map(convert))
    const last = rows.at(-1)
    if (last === undefined || rows.length < exportedAtOnce) return
    after = [text(last[first]), text(last[second])]
  }
}

function toDoc(row: SqlRow) {
  return JSON.parse(text(row.doc))
}

function write(database: Database, calls: Calls, rows: readonly LedgerRow[]): void {
  const { statements } = calls
  const of = byKind(rows)
  for (const { fence, catalogVersion, lastChange } of of.ledger) {
    database.prepare("update counter set value = max(value, ?) where name = 'fence'").run(fence)
    const { at = null, report } = lastChange ?? {}
    database
      .prepare('update catalog set version = ?, changed_at = ?, report = ? where id = 1')
      .run(catalogVersion, at, report === undefined ? null : JSON.stringify(report))
  }
  for (const row of of.revision) statements.insertRevision.run(row.id, row.serviceId, JSON.stringify(row))
  for (const row of of.service)
    statements.putService.run(row.serviceId, row.revisionId, row.retiredAt ?? null, JSON.stringify(row))
  for (const row of of.registry) statements.putRegistry.run(row.name, JSON.stringify(row))
  for (const instance of of.instance) applyChange(calls, { instance }, [])
  const { binding: bindings, operation: operations } = of
  applyChange(calls, { bindings, operations }, [])
  const linkLatest = database.prepare(
    'update history set chain_no = ?, chain_hash = ? where seq = (select max(seq) from history)',
  )
  for (const { link, ...event } of of.history) {
    appendEvent(calls, event)
    if (link !== undefined) linkLatest.run(link.no, link.hash)
  }
  for (const { operationId, ...step } of of.step) writeStep(calls, operationId, step)
  for (const { key, phase, holder } of of.shared) statements.putShared.run(key, phase, holder ?? null)
  for (const { key, instanceId } of of.claim) statements.putClaim.run(key, instanceId)
  const putChore = database.prepare(`insert or replace into chore
    (name, due_at, owner, started_at, fence, lease_until, finished_at, result) values (?, ?, ?, ?, ?, ?, ?, ?)`)
  for (const { name, dueAt, owner, startedAt, fence, leaseUntil = null, finishedAt = null, result } of of.chore)
    putChore.run(name, dueAt, owner, startedAt, fence, leaseUntil, finishedAt, result ? JSON.stringify(result) : null)
  const putNote = database.prepare('insert into note (kind, id, version, expires_at, doc) values (?, ?, ?, ?, ?)')
  for (const { kind, id, version, expiresAt = null, doc } of of.note)
    putNote.run(kind, id, version, expiresAt, JSON.stringify(doc))
}
