import type { Sealing } from '../../sealing.ts'
import { placeOfOperation, text } from '../columns.ts'
import { readPlace, toPlace, toUses, useOf } from '../seal-again.ts'
import { eventAgain, type Sealer } from '../sealing.ts'
import type { Run } from './database.ts'
import type { SqlRow } from './driver.ts'
import { placeOfBinding, placeOfInstance, placeOfStep } from './rows.ts'

interface Table {
  readonly name: string
  /** Its rows are looked at in the order of these. */
  readonly keys: readonly string[]
  /** What else the value belongs to. */
  readonly more?: string
  readonly column: string
  again(sealer: Sealer, row: SqlRow): string | undefined
}

const tables: readonly Table[] = [
  ...(['sealed', 'sealed_state'] as const).flatMap((column): readonly Table[] => [
    {
      name: 'instance',
      keys: ['id'],
      column,
      again: (sealer, row) => sealer.again(text(row.value), placeOfInstance(column, text(row.id))),
    },
    {
      name: 'binding',
      keys: ['instance_id', 'id'],
      column,
      again: (sealer, row) =>
        sealer.again(text(row.value), placeOfBinding(column, text(row.instance_id), text(row.id))),
    },
  ]),
  {
    name: 'operation',
    keys: ['id'],
    more: ', instance_id, binding_id',
    column: 'sealed',
    again: (sealer, row) => sealer.again(text(row.value), placeOfOperation(row)),
  },
  {
    name: 'step',
    keys: ['operation_id', 'name'],
    column: 'sealed',
    again: (sealer, row) => sealer.again(text(row.value), placeOfStep(text(row.operation_id), text(row.name))),
  },
  {
    name: 'history',
    keys: ['seq'],
    more: ', instance_id',
    column: 'doc',
    again: (sealer, row) => eventAgain(sealer, text(row.instance_id), text(row.value)),
  },
]

/** One statement for each page that is read, and one for what of it is written. Rows that others have locked are left to them. */
export function createSealing(run: Run, schema: string, sealer: Sealer): Sealing {
  async function page(table: Table, after: readonly string[] | undefined, max: number) {
    const { name, keys, more = '', column, again } = table
    const order = keys.join(', ')
    const rest =
      after === undefined ? '' : `where (${order}) > (${keys.map((key, place) => cast(key, place + 1)).join(', ')})`
    const select = `select ${keys.map(key => `${key}::text`).join(', ')}${more}, ${column} as value
      from ${schema}.${name} ${rest} order by ${order} limit ${max}`
    const rows = await run({ text: select }, after ?? [])
    const changed = rows.flatMap(row => {
      const value = again(sealer, row)
      return value === undefined ? [] : [{ ...row, before: row.value, after: value }]
    })
    const sealed =
      changed.length === 0 ? 0 : (await run({ text: toUpdate(schema, table) }, [JSON.stringify(changed)])).length
    const last = rows.at(-1)
    return { sealed, last: rows.length < max || !last ? undefined : JSON.stringify(keys.map(key => text(last[key]))) }
  }

  return {
    keyring: sealer.keyring,
    async uses() {
      const counts = tables.map(({ name, column }) => `select ${labelIn(name, column)} as label from ${schema}.${name}`)
      const counted = `select label, count(*) as values from (${counts.join(' union all ')}) found group by label`
      return toUses((await run({ text: counted }, [])).flatMap(({ label, values }) => useOf(label, values)))
    },
    async sealAgain(from, max) {
      const { index, after } = readPlace(from)
      const table = tables[index]
      if (table === undefined) return { sealed: 0 }
      const { sealed, last } = await page(table, after === undefined ? undefined : JSON.parse(after), max)
      return { sealed, next: toPlace(tables.length, index, last) }
    },
  }
}

function cast(key: string, place: number): string {
  return key === 'seq' ? `$${place}::bigint` : `$${place}`
}

/** Locked in the order of their keys, without waiting: nobody can wait for this, and this for nobody. */
function toUpdate(schema: string, { name, keys, column }: Table): string {
  const typed = keys.map(key => `${key} ${key === 'seq' ? 'bigint' : 'text'}`).join(', ')
  const same = (left: string, right: string) => keys.map(key => `${left}.${key} = ${right}.${key}`).join(' and ')
  return `with mine as materialized (
      select g.* from ${schema}.${name} t
      join jsonb_to_recordset($1::jsonb) as g (${typed}, before text, after text) on ${same('t', 'g')}
      where t.${column} = g.before order by ${keys.map(key => `t.${key}`).join(', ')} for no key update of t skip locked
    )
    update ${schema}.${name} t set ${column} = mine.after from mine
    where ${same('t', 'mine')} and t.${column} = mine.before returning 1`
}

/** Null where nothing is sealed, empty where it is not encrypted. PostgreSQL cannot read every document as JSON. */
function labelIn(table: string, column: string): string {
  if (table === 'history')
    return `case when ${column} like '%"identity":"e1:%' then substring(${column} from '"identity":"e1:([^:"]+):')
      when ${column} like '%"identity":{%' then '' end`
  return `case when ${column} in ('{}', '{"input":{}}') then null
    when ${column} like 'e1:%' then split_part(${column}, ':', 2) else '' end`
}
