import type { Chain } from '../../chain.ts'
import { text } from '../columns.ts'
import { noteConflict } from '../notes.ts'
import { readEvent, toEvent } from '../sealing.ts'
import type { Database } from './driver.ts'
import { writeNotes } from './notes.ts'
import { eventKey } from './rows.ts'
import type { Calls } from './statements.ts'

export interface ChainParts {
  readonly database: Database
  readonly calls: Calls
  /** A transaction of its own. */
  readonly written: (write: () => void) => Promise<void>
}

export function createChain({ database, calls, written }: ChainParts): Chain {
  const { statements, sealer } = calls
  const linked = database.prepare('select * from history where chain_no > ? order by chain_no, seq limit ?')
  const unlinked = database.prepare('select * from history where chain_no is null order by seq limit ?')
  const count = database.prepare('select count(*) as count from history where chain_no is null')
  const stray = database.prepare(
    'select count(*) as count from history where chain_no is not null and not (chain_no > ? and chain_no <= ?)',
  )
  const link = database.prepare('update history set chain_no = ?, chain_hash = ? where seq = ? and chain_no is null')
  const drop = database.prepare('delete from history where chain_no <= ?')
  return {
    async linked(after, max) {
      return linked.all(after, max).map(row => ({
        no: Number(row.chain_no),
        hash: String(row.chain_hash),
        event: readEvent(
          sealer,
          () => eventKey(row),
          text(row.doc),
          id => id,
        ),
      }))
    },
    async unlinked(max) {
      return unlinked.all(max).map(row => ({
        key: String(row.seq),
        event: toEvent(sealer, eventKey(row), text(row.doc)),
      }))
    },
    async countUnlinked() {
      return Number(count.get()?.count)
    },
    async countStray({ anchor, head }) {
      return Number(stray.get(anchor.no, head.no)?.count)
    },
    link: (lines, note) =>
      written(() => {
        writeNotes(statements, [note])
        for (const { no, hash, key } of lines) if (link.run(no, hash, Number(key)) === 0) throw noteConflict()
      }),
    drop: (upTo, note) =>
      written(() => {
        writeNotes(statements, [note])
        drop.run(upTo)
      }),
  }
}
