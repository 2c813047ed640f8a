/** Random ledgers and random calls of cleanUp and purge, on every store, against a model of a few lines. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { openWith as openMongo } from '../../src/store/mongodb/open.ts'
import { openWith as openSqlite } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import {
  cleanedUp,
  isSettled,
  type Ledger,
  ledgers,
  type Move,
  moves,
  mustStay,
  now,
  oldestFirst,
  purged,
  rowsIn,
  writeLedger,
} from './clean-up-model.ts'
import { describeSharedMongo, newDatabase } from './mongodb-subject.ts'
import { createSubject, describeSharedPostgres } from './postgres-subject.ts'
import { describeDrivers, temporaryFolder } from './sqlite-drivers.ts'

describe('memory', () => {
  it('removes what is due and nothing else', () =>
    hold(60, async check => check(createMemoryStore({ clock: createVirtualClock(now) }))))
})

describeDrivers('sqlite', driver => {
  it('removes what is due and nothing else', { timeout: 120_000 }, () =>
    hold(60, async check => {
      const folder = temporaryFolder()
      const store = openSqlite(driver, { file: join(folder, 'ledger.db'), clock: createVirtualClock(now) })
      try {
        await check(store)
      } finally {
        await store.close()
        rmSync(folder, { recursive: true })
      }
    }),
  )
})

describeSharedPostgres('postgres', server => {
  it('removes what is due and nothing else', { timeout: 300_000 }, () =>
    hold(25, async check => {
      const subject = await createSubject(server, now)
      const store = await subject.open()
      try {
        await check(store)
      } finally {
        await store.close()
        await subject.destroy()
      }
    }),
  )
})

describeSharedMongo('mongodb', server => {
  it('removes what is due and nothing else', { timeout: 300_000 }, () => {
    const database = newDatabase()
    let runs = 0
    return hold(25, async check => {
      const schema = `run${runs++}`
      const store = await openMongo({ url: server().url, database, schema }, () => ({ $literal: now }))
      try {
        await check(store)
      } finally {
        await store.close()
      }
    })
  })
})

function hold(numRuns: number, onStore: (check: (store: Store) => Promise<void>) => Promise<void>): Promise<void> {
  return fc.assert(
    fc.asyncProperty(ledgers, moves, (ledger, calls) => onStore(store => play(store, ledger, calls))),
    { numRuns },
  )
}

async function play(store: Store, initial: Ledger, calls: readonly Move[]): Promise<void> {
  await writeLedger(store, initial)
  expect(await rowsIn(store, initial)).toEqual(initial)
  let ledger = initial
  for (const call of calls) ledger = await move(store, ledger, call)
  // Enough calls remove all that is due; one more changes nothing.
  for (const call of last) ledger = await move(store, ledger, call)
  expect(isSettled(ledger)).toBe(true)
  for (const call of last) expect(await move(store, ledger, call)).toEqual(ledger)
}

const last: readonly Move[] = [
  ...(['instances', 'bindings'] as const).map(of => ({
    type: 'cleanUp' as const,
    wanted: { of, states: ['succeeded', 'failed', 'superseded'] as const, before: now, max: 1000 },
  })),
  { type: 'purge', before: now, max: 1000 },
]

/** Makes the call and compares what is left with what the model says. */
async function move(store: Store, before: Ledger, call: Move): Promise<Ledger> {
  const due = call.type === 'cleanUp' ? cleanedUp(before, call.wanted) : purged(before, call.before)
  const max = call.type === 'cleanUp' ? call.wanted.max : call.max
  const removed = call.type === 'cleanUp' ? await store.cleanUp(call.wanted) : await store.purge(call.before, call.max)
  const left = await rowsIn(store, before)
  expect(removed).toBe(Math.min(due.length, max))
  expect(left.operations).toEqual(expect.arrayContaining([...mustStay(before)]))
  // The oldest ones, but which of two of the same age is not promised: one of the ways to choose must be what happened.
  const expected = oldestFirst(due, removed).map(choice => choice.reduce((rows, remove) => remove(rows), before))
  expect(expected).toContainEqual(left)
  return left
}
