import { StoreOpenError } from '../../store.ts'
import type { Connection } from './driver.ts'
import { migrations } from './migrations.ts'

/** The version of the schema, 0 where it is not there or empty. Throws where it is not one of a ledger, or of a newer release. */
export async function findVersion(connection: Connection, schema: string, patienceMs: number) {
  const { exists, ours, tables } = await look(connection, schema, patienceMs)
  if (!ours && tables > 0)
    throw new StoreOpenError(
      'foreign-schema',
      `the schema ${schema} holds tables of another program: name an empty schema, or one that is not there yet`,
    )
  const version = ours ? await readVersion(connection, `"${schema}"`, patienceMs) : 0
  if (version > migrations.length)
    throw new StoreOpenError(
      'newer-version',
      `the schema ${schema} was written by a newer release (its version is ${version}, this release knows ` +
        `${migrations.length}): start that release, or put back the backup made before the upgrade`,
    )
  return { exists, version }
}

/** What is to be run, in this order, to bring the schema to this release. Changes nothing. */
export async function findPending(connection: Connection, schema: string, patienceMs: number): Promise<string[]> {
  const quoted = `"${schema}"`
  const { exists, version } = await findVersion(connection, schema, patienceMs)
  const steps = migrations.slice(version).map((migration, index) => {
    const number = version + index + 1
    return `${migration(quoted).trim()}\n\ninsert into ${quoted}.migration (number) values (${number});`
  })
  return [...(exists ? [] : [`create schema ${quoted};`]), ...steps]
}

/**
 * Brings the schema to this release, all or nothing. The lock lets replicas that start together do it one after the other;
 * where nothing is pending none is taken, and the user needs no right to change the schema.
 */
export async function migrate(connection: Connection, schema: string, patienceMs: number): Promise<number> {
  if ((await findPending(connection, schema, patienceMs)).length === 0) return 0
  await connection.query({ text: 'begin' })
  await connection.query({ text: 'set local statement_timeout = 0' })
  await connection.query({ text: lockForMigration(schema) })
  const pending = await findPending(connection, schema, patienceMs)
  for (const text of pending) await connection.query({ text })
  await connection.query({ text: 'commit' })
  return pending.length
}

/** One at a time for each schema, until the transaction ends. A schema's name needs no quoting. */
function lockForMigration(schema: string): string {
  return `select pg_advisory_xact_lock(hashtextextended('purser migration ${schema}', 0))`
}

/**
 * All or nothing, under the lock that replicas take: run beside a broker that starts, or a second time, it fails at its first
 * statement and leaves things as they are. `servedBy` comes quoted.
 */
export function toScript(pending: readonly string[], schema: string, servedBy: string): string {
  return `-- Brings the schema ${schema} up to date. Run it as a user who may create and change that schema.
begin;
${lockForMigration(schema)};

${pending.join('\n\n')}

-- What the broker's own user needs, where another one runs this.
grant usage on schema "${schema}" to ${servedBy};
grant select, insert, update, delete on all tables in schema "${schema}" to ${servedBy};
grant usage on all sequences in schema "${schema}" to ${servedBy};
commit;
`
}

async function look(connection: Connection, schema: string, patienceMs: number) {
  const { rows } = await connection.query({
    text: `select count(distinct n.oid)::integer as schemas, count(c.oid)::integer as tables,
        coalesce(bool_or(c.relname = 'migration'), false) as ours
      from pg_namespace n left join pg_class c on c.relnamespace = n.oid and c.relkind in ('r', 'p')
      where n.nspname = $1`,
    values: [schema],
    query_timeout: patienceMs,
  })
  const [row] = rows
  return { exists: Number(row?.schemas) > 0, ours: row?.ours === true, tables: Number(row?.tables) }
}

async function readVersion(connection: Connection, quoted: string, patienceMs: number): Promise<number> {
  const text = `select coalesce(max(number), 0) as version from ${quoted}.migration`
  const { rows } = await connection.query({ text, query_timeout: patienceMs })
  return Number(rows[0]?.version)
}
