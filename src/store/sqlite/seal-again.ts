import type { KeyUse, Sealing } from '../../sealing.ts'
import { placeOfOperation, text } from '../columns.ts'
import { readPlace, toPlace, toUses, useOf } from '../seal-again.ts'
import { eventAgain, type Sealer } from '../sealing.ts'
import type { Database, SqlRow } from './driver.ts'
import { placeOfBinding, placeOfInstance, placeOfStep } from './rows.ts'

interface Table {
  readonly name: string
  /** What the value belongs to. */
  readonly keys: string
  readonly column: string
  /** The value, or an expression of what is sealed in it. */
  readonly sealed: string
  again(sealer: Sealer, row: SqlRow): string | undefined
}

const tables: readonly Table[] = [
  {
    name: 'instance',
    keys: 'id',
    column: 'sealed',
    sealed: 'sealed',
    again: (sealer, row) => sealer.again(text(row.value), placeOfInstance(text(row.id))),
  },
  {
    name: 'binding',
    keys: 'instance_id, id',
    column: 'sealed',
    sealed: 'sealed',
    again: (sealer, row) => sealer.again(text(row.value), placeOfBinding(text(row.instance_id), text(row.id))),
  },
  {
    name: 'operation',
    keys: 'instance_id, binding_id, id',
    column: 'sealed',
    sealed: 'sealed',
    again: (sealer, row) => sealer.again(text(row.value), placeOfOperation(row)),
  },
  {
    name: 'step',
    keys: 'operation_id, name',
    column: 'sealed',
    sealed: 'sealed',
    again: (sealer, row) => sealer.again(text(row.value), placeOfStep(text(row.operation_id), text(row.name))),
  },
  {
    name: 'history',
    keys: 'instance_id',
    column: 'doc',
    sealed: `json_extract(doc, '$.identity')`,
    again: (sealer, row) => eventAgain(sealer, text(row.instance_id), text(row.value)),
  },
]

export interface SealingParts {
  readonly database: Database
  readonly sealer: Sealer
  /** A transaction of its own. */
  readonly written: <Result>(write: () => Result) => Promise<Result>
  readonly flush: () => void
}

export function createSealing({ database, sealer, written, flush }: SealingParts): Sealing {
  function page({ name, keys, column, again }: Table, after: number, max: number) {
    const select = `select rowid as place, ${keys}, ${column} as value from ${name} where rowid > ? order by rowid limit ?`
    const rows = database.prepare(select).all(after, max)
    const update = database.prepare(`update ${name} set ${column} = ? where rowid = ?`)
    let sealed = 0
    // What was there before must not stay in the free parts of the file.
    database.exec('PRAGMA secure_delete = ON')
    try {
      for (const row of rows) {
        const value = again(sealer, row)
        if (value !== undefined) sealed += update.run(value, Number(row.place))
      }
    } finally {
      database.exec('PRAGMA secure_delete = OFF')
    }
    return { sealed, last: rows.length < max ? undefined : Number(rows.at(-1)?.place) }
  }

  return {
    keyring: sealer.keyring,
    async uses() {
      const counted = tables.flatMap(({ name, sealed }): readonly KeyUse[] =>
        database
          .prepare(`select ${labelIn(sealed)} as label, count(*) as count from ${name} group by 1`)
          .all()
          .flatMap(({ label, count }) => useOf(label, count)),
      )
      return toUses(counted)
    },
    async sealAgain(from, max) {
      const { index, after } = readPlace(from)
      const table = tables[index]
      if (table === undefined) return { sealed: 0 }
      const { sealed, last } = await written(() => page(table, Number(after ?? 0), max))
      const next = toPlace(tables.length, index, last === undefined ? undefined : String(last))
      if (next === undefined) {
        // Nor in the log beside it.
        flush()
        database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      }
      return { sealed, next }
    },
  }
}

/** Null where nothing is sealed, empty where it is not encrypted. */
function labelIn(sealed: string): string {
  return `case when ${sealed} is null or ${sealed} in ('{}', '{"input":{}}') then null
    when ${sealed} like 'e1:%' then substr(${sealed}, 4, instr(substr(${sealed}, 4), ':') - 1) else '' end`
}
