import type { KeyUse, SealedPlace, Sealing } from '../../sealing.ts'
import { text } from '../columns.ts'
import { readPlace, toPlace, toUses, useOf } from '../seal-again.ts'
import { eventAgain, type Sealer } from '../sealing.ts'
import type { Database, SqlRow } from './driver.ts'
import { eventKey, placeOfBinding, placeOfInstance, placeOfOperation, placeOfStep } from './rows.ts'

interface Table {
  readonly name: string
  /** What the value belongs to. */
  readonly keys: string
  readonly column: 'sealed' | 'doc'
  again(sealer: Sealer, row: SqlRow): string | undefined
}

const tables: readonly Table[] = [
  table('instance', 'id', placeOfInstance),
  table('binding', 'instance_id, id', placeOfBinding),
  table('operation', 'instance_id, binding_id, id', placeOfOperation),
  table('step', 'operation_id, name', placeOfStep),
  {
    name: 'history',
    keys: 'instance_id',
    column: 'doc',
    again: (sealer, row) => eventAgain(sealer, eventKey(row), text(row.doc)),
  },
]

function table(name: string, keys: string, placeOf: (row: SqlRow, doc: SqlRow) => SealedPlace): Table {
  const again: Table['again'] = (sealer, row) => sealer.again(text(row.sealed), placeOf(row, JSON.parse(text(row.doc))))
  return { name, keys: `${keys}, sealed`, column: 'sealed', again }
}

export interface SealingParts {
  readonly database: Database
  readonly sealer: Sealer
  /** A transaction of its own. */
  readonly written: <Result>(write: () => Result) => Promise<Result>
  readonly flush: () => void
}

export function createSealing({ database, sealer, written, flush }: SealingParts): Sealing {
  function page({ name, keys, column, again }: Table, after: number, max: number) {
    const select = `select rowid as place, ${keys}, doc from ${name} where rowid > ? order by rowid limit ?`
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
      const counted = tables.flatMap(({ name, column }): readonly KeyUse[] =>
        database
          .prepare(
            `select ${labelIn(column === 'doc' ? `json_extract(doc, '$.identity')` : column)} as label, count(*) as count from ${name} group by 1`,
          )
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
