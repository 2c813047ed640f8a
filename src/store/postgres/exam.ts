import { toNameHolder } from '../columns.ts'
import { compareClocks, type StoreExam } from '../exam.ts'
import type { Connection, SqlValue } from './driver.ts'
import { findVersion } from './migrate.ts'
import { migrations } from './migrations.ts'

/** Looks at the schema. `name` is that of a replica. */
export async function examineSchema(
  connection: Connection,
  { schema, patienceMs, name }: { readonly schema: string; readonly patienceMs: number; readonly name?: string },
): Promise<StoreExam> {
  const ask = async (text: string, values: readonly SqlValue[] = []) =>
    (await connection.query({ text, values, query_timeout: patienceMs })).rows
  const { exists, version } = await findVersion(connection, schema, patienceMs)
  const clocks = await compareClocks(async () => {
    const [row] = await ask('select (extract(epoch from clock_timestamp()) * 1000)::double precision as now')
    return Number(row?.now)
  })
  const refused = await ask(
    exists ? rightsInSchema : rightToCreate,
    exists ? [schema, version < migrations.length] : [],
  )
  const [held] =
    name === undefined || version < namesSince
      ? []
      : await ask(
          `select owner, since, seen_at, (extract(epoch from clock_timestamp()) * 1000)::double precision - seen_at as ago
            from "${schema}".replica where name = $1`,
          [name],
        )
  return {
    version,
    known: migrations.length,
    ...clocks,
    refused: refused.map(row => String(row.refused)),
    holder: held && { ...toNameHolder(held), agoMs: Number(held.ago ?? 0) },
  }
}

/** The schema that names came with. */
const namesSince = 5

const rightToCreate = `select 'it may not create the schema: run purser migrate as a user who may' as refused
  where not has_database_privilege(current_database(), 'CREATE')`

/** A broker writes every table; where something is pending it changes them as well. */
const rightsInSchema = `select 'it may not ' || string_agg(lower(p), ', ') || ' in the table ' || c.relname
      || ': grant it, as the script of purser migrate --dry-run does' as refused
    from pg_class c join pg_namespace n on n.oid = c.relnamespace,
      unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE']) p
    where n.nspname = $1 and c.relkind in ('r', 'p') and has_schema_privilege(n.oid, 'USAGE') and not has_table_privilege(c.oid, p)
    group by c.relname
  union all select 'it may not use the schema: grant usage on it'
    where not has_schema_privilege($1, 'USAGE')
  union all select 'it may not change the schema, and something is pending: run purser migrate as a user who may'
    where $2 and not has_schema_privilege($1, 'CREATE')`
