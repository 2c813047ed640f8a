import type { Chain } from '../../chain.ts'
import { text } from '../columns.ts'
import { keyOf } from '../keys.ts'
import { noteConflict } from '../notes.ts'
import { readEvent, type Sealer, toEvent } from '../sealing.ts'
import type { Database } from './database.ts'
import { fromWrites } from './notes.ts'
import type { Statements } from './statements.ts'

export interface ChainParts {
  readonly database: Pick<Database, 'run' | 'transaction'>
  /** Quoted. */
  readonly schema: string
  readonly statements: Statements
  readonly sealer: Sealer
}

export function createChain({ database, schema, statements, sealer }: ChainParts): Chain {
  const table = `${schema}.history`
  const linked = `select chain_no::double precision as no, chain_hash, instance_id, doc from ${table}
    where chain_no > $1 order by chain_no, seq limit $2`
  const unlinked = `select seq::text as key, instance_id, doc from ${table} where chain_no is null order by seq limit $1`
  const count = `select count(*)::double precision as count from ${table} where chain_no is null`
  const stray = `select count(*)::double precision as count from ${table}
    where chain_no is not null and not (chain_no > $1 and chain_no <= $2)`
  const link = `update ${table} h set chain_no = g.no, chain_hash = g.hash
    from jsonb_to_recordset($1::jsonb) as g (key bigint, no bigint, hash text)
    where h.seq = g.key and h.chain_no is null returning 1`
  const drop = `delete from ${table} where chain_no <= $1`
  return {
    async linked(after, max) {
      const rows = await database.run({ text: linked }, [after, max])
      return rows.map(({ no, chain_hash, instance_id, doc }) => ({
        no: Number(no),
        hash: String(chain_hash),
        event: readEvent(sealer, () => text(instance_id), text(doc), keyOf),
      }))
    },
    async unlinked(max) {
      const rows = await database.run({ text: unlinked }, [max])
      return rows.map(({ key, instance_id, doc }) => ({
        key: text(key),
        event: toEvent(sealer, text(instance_id), text(doc)),
      }))
    },
    async countUnlinked() {
      const [row] = await database.run({ text: count }, [])
      return Number(row?.count)
    },
    async countStray({ anchor, head }) {
      const [row] = await database.run({ text: stray }, [anchor.no, head.no])
      return Number(row?.count)
    },
    link: (lines, note) =>
      database.transaction(async run => {
        // First the note: whoever else does the same waits for it, and finds that it was too late.
        await run(statements.writeNotes, [fromWrites([note])])
        const changed = await run({ text: link }, [JSON.stringify(lines)])
        if (changed.length !== lines.length) throw noteConflict()
      }),
    drop: (upTo, note) =>
      database.transaction(async run => {
        await run(statements.writeNotes, [fromWrites([note])])
        await run({ text: drop }, [upTo])
      }),
  }
}

/** Schema 15: the chain of the history, which outlives the instances that it is about. */
export function chainSchema(schema: string): string {
  return `
alter table ${schema}.history add column chain_no bigint, add column chain_hash text;
create index history_chain on ${schema}.history (chain_no, seq);`
}
