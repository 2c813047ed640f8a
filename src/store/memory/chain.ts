import type { Chain, Link } from '../../chain.ts'
import { noteConflict } from '../notes.ts'
import { writeNotes } from './notes.ts'
import type { EventRow, Tables } from './tables.ts'

type Run = <Result>(body: () => Result) => Promise<Result>

export function createChain(tables: Tables, run: Run): Chain {
  const { events, orders } = tables
  return {
    linked: (after, max) =>
      run(() =>
        some(events.walk(orders.linked, { from: after + 1 }), max).map(({ event, link }) => ({
          no: link?.no ?? 0,
          hash: link?.hash ?? '',
          event,
        })),
      ),
    unlinked: max => run(() => some(events.walk(orders.unlinked), max).map(({ key, event }) => ({ key, event }))),
    countUnlinked: () => run(() => orders.unlinked.size),
    countStray: ({ anchor, head }) =>
      run(() => [...events.walk(orders.linked)].filter(({ link }) => !isBetween(link?.no ?? 0, anchor, head)).length),
    link: (lines, note) =>
      run(() => {
        writeNotes(tables, [note])
        for (const { key, no, hash } of lines) {
          const row = events.get(key)
          if (row === undefined || row.link !== undefined) throw noteConflict()
          events.put(key, { ...row, link: { no, hash } })
        }
      }),
    drop: (upTo, note) =>
      run(() => {
        writeNotes(tables, [note])
        for (const { key } of [...events.walk(orders.linked, { before: upTo + 1 })]) events.remove(key)
      }),
  }
}

function isBetween(no: number, anchor: Link, head: Link): boolean {
  return no > anchor.no && no <= head.no
}

function some(rows: Iterable<EventRow>, max: number): readonly EventRow[] {
  const found: EventRow[] = []
  for (const row of rows) {
    if (found.length >= max) break
    found.push(row)
  }
  return found
}
