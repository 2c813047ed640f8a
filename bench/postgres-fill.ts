import type { Connection } from '../src/store/postgres/driver.ts'

/** Each table with what finds the template's rows in it. */
const tables = {
  instance: `t.id = 'template'`,
  operation: `t.id = 'op-template'`,
  step: `t.operation_id = 'op-template'`,
  history: `t.instance_id = 'template'`,
}

/**
 * Copies the rows of the instance `template` until there are `size` instances, in the ledger's own schema, by SQL: a million
 * accepts would take minutes and prove nothing more. The ids are spread as real ones are.
 */
export async function fillLedger(connection: Connection, schema: string, size: number): Promise<void> {
  const { rows } = await connection.query({ text: `select count(*)::integer as count from ${schema}.instance` })
  const first = Number(rows[0]?.count)
  if (first >= size) return
  await connection.query({ text: 'begin' })
  for (const [table, condition] of Object.entries(tables)) {
    const columns = await columnsOf(connection, schema, table)
    await connection.query({
      text: `insert into ${schema}.${table} (${columns.map(({ name }) => name).join(', ')})
        select ${columns.map(copyOf).join(', ')}
        from generate_series(${first}, ${size - 1}) n
        cross join lateral (select md5(n::text) || '-0000' as id) new
        cross join ${schema}.${table} t
        where ${condition}`,
    })
  }
  await connection.query({ text: 'commit' })
  await connection.query({ text: 'analyze' })
}

/** Bytes for each instance of every table and index, and the levels of the index that polls use. */
export interface Sizes {
  readonly instances: number
  readonly bytes: Readonly<Record<string, number>>
  readonly levels: number
}

export async function measureSizes(connection: Connection, schema: string, instances: number): Promise<Sizes> {
  const { rows } = await connection.query({
    text: `select c.relname as name, (case c.relkind when 'r' then pg_table_size(c.oid) else pg_relation_size(c.oid) end
        )::double precision as bytes from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = $1 and c.relkind in ('r', 'i') and c.relname not like 'migration%' and c.reltuples > 0 order by c.relkind desc, c.relname`,
    values: [schema],
  })
  const bytes = Object.fromEntries(rows.map(row => [String(row.name), Number(row.bytes) / instances]))
  const pages = ((bytes.operation_pkey ?? 0) * instances) / 8192
  return { instances, bytes, levels: levelsOf(pages) }
}

/** By calculation: a page above the leaves leads to up to two hundred others, since keys are cut short there. */
export function levelsOf(pages: number): number {
  return pages <= 1 ? 1 : 1 + levelsOf(pages / 200)
}

interface Column {
  readonly name: string
  readonly type: string
}

/** Those that are written; the others make themselves. */
async function columnsOf(connection: Connection, schema: string, table: string): Promise<Column[]> {
  const { rows } = await connection.query({
    text: `select column_name as name, data_type as type from information_schema.columns
      where table_schema = $1 and table_name = $2 and is_identity = 'NO' and is_generated = 'NEVER'
      order by ordinal_position`,
    values: [schema, table],
  })
  return rows.map(({ name, type }) => ({ name: String(name), type: String(type) }))
}

function copyOf({ name, type }: Column): string {
  return type === 'text' ? `replace(t.${name}, 'template', new.id)` : `t.${name}`
}
