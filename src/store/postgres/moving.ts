import {
  byKind,
  exportedAtOnce,
  type LedgerRow,
  type LedgerRows,
  localNotes,
  type Moving,
  rowsOf,
} from '../../moving.ts'
import { text, toChore, toNote, toOperation, toShared } from '../columns.ts'
import { keyOf } from '../keys.ts'
import { type Sealer, toEvent } from '../sealing.ts'
import type { Database, Run } from './database.ts'
import type { SqlRow, SqlValue } from './driver.ts'
import {
  fromBinding,
  fromHistory,
  fromInstance,
  fromOperation,
  fromStep,
  optionalKey,
  toBinding,
  toInstance,
  toStep,
} from './rows.ts'

/** How far an import has come: a row while one is under way. */
export function importSchema(schema: string): string {
  return `
create table ${schema}.import (
  id text primary key,
  line double precision not null
);`
}

/** One transaction that sees what was committed when it began, whatever others write meanwhile. */
export function createMoving(database: Database, schema: string, sealer: Sealer): Moving {
  return {
    exportRows: take =>
      database.transaction(async run => {
        await run({ text: 'set transaction isolation level repeatable read, read only' }, [])
        // Each look is short, but the first one of a table may have to sort it.
        await run({ text: 'set local statement_timeout = 0' }, [])
        await exportAll({ run, schema, sealer }, take)
      }),
    async importState() {
      const [found] = await database.run({ text: `${stateOf(schema)}` }, [])
      const { empty, id, line } = found ?? {}
      return { empty: empty === true, progress: typeof id === 'string' ? { id, line: Number(line) } : undefined }
    },
    importRows: (rows, progress) =>
      database.transaction(async run => {
        await write({ run, schema, sealer }, rows)
        await run({ text: `delete from ${schema}.import` }, [])
        if (progress !== undefined)
          await run({ text: `insert into ${schema}.import (id, line) values ($1, $2)` }, [progress.id, progress.line])
      }),
  }
}

function stateOf(schema: string): string {
  const any = (table: string) => `exists (select 1 from ${schema}.${table})`
  const noted = `exists (select 1 from ${schema}.note where kind not in (${localNotes.map(kind => `'${kind}'`)}))`
  const found = [...['instance', 'history', 'revision', 'shared_resource'].map(any), noted]
  return `select not (${found.join(' or ')}) as empty, i.id, i.line
    from (select 1) one left join ${schema}.import i on true limit 1`
}

type Take = Parameters<Moving['exportRows']>[0]

/** What rows are read and written with. */
interface Ledger {
  readonly run: Run
  readonly schema: string
  readonly sealer: Sealer
}

async function exportAll({ run, schema, sealer }: Ledger, take: Take): Promise<void> {
  // As the statistics have it: to count them would take as long as to read them.
  const [counted] = await run({ text: countAll(schema) }, [])
  const total = Number(counted?.total)
  const each = async <Kind extends keyof LedgerRows>(
    kind: Kind,
    query: string,
    convert: (row: SqlRow) => LedgerRows[Kind],
  ) => {
    await run({ text: `declare exported no scroll cursor for ${query}` }, [])
    for (;;) {
      const rows = await run({ text: `fetch ${exportedAtOnce} from exported` }, [])
      if (rows.length > 0) await take(rowsOf(kind, rows.map(convert)), total)
      if (rows.length < exportedAtOnce) break
    }
    await run({ text: 'close exported' }, [])
  }
  const operations = 'o.*, o.fence::double precision as fence'
  await each('ledger', ledgerQuery(schema), toLedger)
  await each('revision', `select doc from ${schema}.revision order by id`, toDoc)
  await each('service', `select doc from ${schema}.service order by id`, toDoc)
  await each('registry', `select doc from ${schema}.registry order by name`, toDoc)
  await each('instance', `select id, doc, sealed, sealed_state from ${schema}.instance order by id`, row =>
    toInstance(sealer, row),
  )
  await each(
    'binding',
    `select instance_id, id, doc, sealed, sealed_state from ${schema}.binding order by instance_id, id`,
    row => toBinding(sealer, row),
  )
  await each('operation', `select ${operations} from ${schema}.operation o order by id`, row =>
    toOperation(sealer, row),
  )
  await each(
    'step',
    `select s.*, o.doc as operation_doc from ${schema}.step s join ${schema}.operation o on o.id = s.operation_id
    order by s.operation_id, s.seq`,
    row => ({ ...toStep(sealer, row), operationId: idIn(row.operation_doc) }),
  )
  await each('shared', `select * from ${schema}.shared_resource order by key`, row => toShared(sharedKey(row.key), row))
  await each(
    'claim',
    `select c.resource_key, i.doc from ${schema}.shared_claim c join ${schema}.instance i on i.id = c.instance_id
    order by c.resource_key, c.instance_id`,
    row => ({ key: sharedKey(row.resource_key), instanceId: idIn(row.doc) }),
  )
  await each('chore', `select * from ${schema}.chore order by name`, toChore)
  const link = 'chain_no::double precision as chain_no, chain_hash'
  await each('history', `select instance_id, doc, ${link} from ${schema}.history order by seq`, row => ({
    ...toEvent(sealer, text(row.instance_id), text(row.doc)),
    ...(row.chain_no !== null && { link: { no: Number(row.chain_no), hash: text(row.chain_hash) } }),
  }))
  await each('note', `select * from ${schema}.note order by kind, id`, toNote)
}

function countAll(schema: string): string {
  const tables = ['instance', 'binding', 'operation', 'step', 'history', 'shared_claim', 'revision', 'note']
  const named = tables.map(table => `'${schema}.${table}'::regclass`).join(', ')
  return `select coalesce(sum(greatest(reltuples, 0)), 0)::double precision as total from pg_class where oid in (${named})`
}

function ledgerQuery(schema: string): string {
  return `select (case when f.is_called then f.last_value else 0 end)::double precision as fence, c.version, c.changed_at, c.report
    from ${schema}.fence f, ${schema}.catalog c`
}

function toLedger({ fence, version, changed_at: at, report }: SqlRow): LedgerRows['ledger'] {
  const lastChange = typeof report === 'string' ? { at: Number(at), report: JSON.parse(report) } : undefined
  return { fence: Number(fence), catalogVersion: Number(version), lastChange }
}

function toDoc(row: SqlRow) {
  return JSON.parse(text(row.doc))
}

function idIn(doc: unknown): string {
  return text(JSON.parse(text(doc)).id)
}

/** Other stores know it by its name, which a hash does not tell. */
function sharedKey(key: unknown): string {
  const name = text(key)
  if (!name.startsWith('#')) return name
  throw new Error(
    `the shared resource ${name} cannot be exported: its key has more than 250 characters, or others than those of ASCII, and the ledger knows only its hash`,
  )
}

async function write({ run, schema, sealer }: Ledger, rows: readonly LedgerRow[]): Promise<void> {
  const of = byKind(rows)
  const put = async (table: string, columns: string, values: readonly SqlRow[], more = '') => {
    if (values.length === 0) return
    const source = `jsonb_populate_recordset(null::${schema}.${table}, $1::jsonb)`
    // In the order of the list: it becomes the order of "seq".
    const query = `insert into ${schema}.${table} (${columns}) select ${columns} from ${source} ${more}`
    await run({ text: query }, [JSON.stringify(values)])
  }
  for (const { fence, catalogVersion, lastChange } of of.ledger) {
    if (fence > 0)
      await run({ text: `select setval('${schema}.fence', greatest($1::bigint, last_value)) from ${schema}.fence` }, [
        fence,
      ])
    const values: readonly SqlValue[] = [
      catalogVersion,
      lastChange?.at ?? null,
      lastChange === undefined ? null : JSON.stringify(lastChange.report),
    ]
    await run({ text: `update ${schema}.catalog set version = $1, changed_at = $2, report = $3 where id = 1` }, values)
  }
  const doc = (row: object) => JSON.stringify(row)
  const rowsFrom = <Row>(some: readonly Row[], from: (sealer: Sealer, row: Row) => SqlRow) =>
    some.map(row => from(sealer, row))
  const { revision, service, registry, instance, binding, operation, step, shared, claim, chore, history, note } = of
  await put(
    'revision',
    'id, service_id, doc',
    revision.map(row => ({ id: row.id, service_id: row.serviceId, doc: doc(row) })),
  )
  await put(
    'service',
    'id, revision_id, retired, doc',
    service.map(row => ({
      id: row.serviceId,
      revision_id: row.revisionId,
      retired: row.retiredAt !== undefined,
      doc: doc(row),
    })),
  )
  const replaced = 'on conflict (name) do update set doc = excluded.doc'
  await put(
    'registry',
    'name, doc',
    registry.map(row => ({ name: row.name, doc: doc(row) })),
    replaced,
  )
  await put('instance', instanceColumns, rowsFrom(instance, fromInstance))
  await put('binding', bindingColumns, rowsFrom(binding, fromBinding))
  await put('operation', operationColumns, rowsFrom(operation, fromOperation))
  await put(
    'step',
    'operation_id, name, state, doc, sealed',
    step.map(({ operationId, ...row }) => {
      const key = keyOf(operationId)
      return { operation_id: key, ...fromStep(sealer, key, row) }
    }),
  )
  await put(
    'shared_resource',
    'key, phase, holder',
    shared.map(({ key, phase, holder }) => ({
      key: keyOf(key),
      phase,
      holder: optionalKey(holder),
    })),
  )
  await put(
    'shared_claim',
    'resource_key, instance_id',
    claim.map(({ key, instanceId }) => ({
      resource_key: keyOf(key),
      instance_id: keyOf(instanceId),
    })),
  )
  if (chore.length > 0)
    await run({ text: `delete from ${schema}.chore where name = any($1)` }, [chore.map(({ name }) => name)])
  await put(
    'chore',
    'name, due_at, owner, started_at, fence, lease_until, finished_at, result',
    chore.map(row => ({
      name: row.name,
      due_at: row.dueAt,
      owner: row.owner,
      started_at: row.startedAt,
      fence: row.fence,
      lease_until: row.leaseUntil,
      finished_at: row.finishedAt,
      result: row.result && doc(row.result),
    })),
  )
  await put(
    'history',
    'instance_id, doc, chain_no, chain_hash',
    history.map(({ link, ...event }) => ({
      ...fromHistory(sealer, event),
      chain_no: link?.no,
      chain_hash: link?.hash,
    })),
  )
  await put(
    'note',
    'kind, id, version, expires_at, doc',
    note.map(row => ({ ...row, expires_at: row.expiresAt, doc: doc(row.doc) })),
  )
}

const instanceColumns = `id, observe_at, phase, last_operation_id, unclean_until, deleted_at, revision_id, next_revision_id,
  pinned_plan, created_at, platform, service_id, plan_id, usable, doc, sealed, sealed_state`
const bindingColumns = `instance_id, id, phase, last_operation_id, unclean_until, deleted_at, predecessor_id, created_at,
  service_id, plan_id, doc, sealed, sealed_state`
const operationColumns = `id, instance_id, binding_id, state, attempt, losses, not_before, lease_owner, lease_until, fence,
  drains, unclean, checkpoint_at, description, finished_at, accepted_at, action, service_key, plan_key,
  platform_key, failed_step, fingerprint, doc, sealed`
