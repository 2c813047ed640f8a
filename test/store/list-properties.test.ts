/** Random rows, random filters and pages of random sizes, read while rows come and go, on every store. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { openWith as openMongo } from '../../src/store/mongodb/open.ts'
import { openWith as openSqlite } from '../../src/store/sqlite/open.ts'
import type { Instance, InstanceQuery, InstanceSummary, Store } from '../../src/store.ts'
import { instanceRow } from '../../src/testing/store-contract/rows.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { describeSharedMongo, newDatabase } from './mongodb-subject.ts'
import { createSubject, describeSharedPostgres } from './postgres-subject.ts'
import { describeDrivers, temporaryFolder } from './sqlite-drivers.ts'

const title = 'shows every row that stays exactly once, in order, whatever comes and goes between the pages'

describe('lists: memory', () => {
  it(title, () => hold(100, async check => check(createMemoryStore({ clock: createVirtualClock() }))))
})

describeDrivers('lists: sqlite', driver => {
  it(title, { timeout: 120_000 }, () =>
    hold(60, async check => {
      const folder = temporaryFolder()
      const store = openSqlite(driver, { file: join(folder, 'ledger.db'), clock: createVirtualClock() })
      try {
        await check(store)
      } finally {
        await store.close()
        rmSync(folder, { recursive: true })
      }
    }),
  )
})

describeSharedPostgres('lists: postgres', server => {
  it(title, { timeout: 300_000 }, () =>
    hold(15, async check => {
      const subject = await createSubject(server)
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

describeSharedMongo('lists: mongodb', server => {
  it(title, { timeout: 300_000 }, () => {
    const database = newDatabase()
    let runs = 0
    return hold(15, async check => {
      const store = await openMongo({ url: server().url, database, schema: `run${runs++}` }, () => ({ $literal: 1 }))
      try {
        await check(store)
      } finally {
        await store.close()
      }
    })
  })
})

type Row = Pick<Instance, 'id' | 'createdAt' | 'serviceId' | 'planId' | 'platform' | 'phase' | 'usable'>
type Filter = Omit<InstanceQuery, 'order' | 'limit' | 'cursor'>

const attributes = {
  serviceId: fc.constantFrom('s', 't'),
  planId: fc.constantFrom('p', 'q'),
  platform: fc.constantFrom('cf', 'k8s'),
  phase: fc.constantFrom('ready', 'ready', 'failed', 'updating', 'deleted') as fc.Arbitrary<Instance['phase']>,
  usable: fc.boolean(),
}
/** Few times and few ids, so that many share one and rows are written over. */
const row: fc.Arbitrary<Row> = fc.record({
  id: fc.integer({ min: 0, max: 25 }).map(number => `i${number}`),
  createdAt: fc.nat({ max: 6 }),
  ...attributes,
})
const filter: fc.Arbitrary<Filter> = fc.record(attributes, { requiredKeys: [] })

function hold(numRuns: number, onStore: (check: (store: Store) => Promise<void>) => Promise<void>): Promise<void> {
  const reading = fc.record({
    rows: fc.uniqueArray(row, { selector: ({ id }) => id, maxLength: 25 }),
    filter,
    order: fc.constantFrom('newest', 'oldest') as fc.Arbitrary<'newest' | 'oldest'>,
    /** One for each page: its size, how many rows it may look at, and what is written before the next one. */
    pages: fc.array(
      fc.record({
        limit: fc.integer({ min: 1, max: 5 }),
        examine: fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
        writes: fc.array(row, { maxLength: 3 }),
      }),
      { minLength: 1, maxLength: 8 },
    ),
  })
  return fc.assert(
    fc.asyncProperty(reading, async ({ rows, filter, order, pages }) =>
      onStore(async store => {
        const ledger = new Map<string, Row>()
        const touched = new Set<string>()
        const write = async (written: Row) => {
          ledger.set(written.id, written)
          await put(store, written)
        }
        for (const written of rows) await write(written)
        const atFirst = shownOf(ledger, filter)
        expect(idsOf((await store.listInstances({ ...filter, order, limit: 500 })).items)).toEqual(idsOf(atFirst))

        const seen: InstanceSummary[] = []
        let cursor: string | undefined
        for (let index = 0; index === 0 || cursor !== undefined; index += 1) {
          const { limit, examine, writes } = pages[index % pages.length] ?? { limit: 1, writes: [] }
          const page = await store.listInstances({ ...filter, order, limit, examine, cursor })
          expect(page.items.length).toBeLessThanOrEqual(limit)
          seen.push(...page.items)
          cursor = page.next
          if (cursor === undefined) break
          // Not for ever: what is written before the cursor again and again would never end.
          if (index >= pages.length) continue
          for (const written of writes) {
            touched.add(written.id)
            await write(written)
          }
        }
        const times = seen.map(({ createdAt }) => createdAt)
        expect(times).toEqual([...times].sort((one, other) => (order === 'newest' ? other - one : one - other)))
        const stayed = atFirst.filter(({ id }) => !touched.has(id))
        for (const { id } of stayed) expect(seen.filter(item => item.id === id)).toHaveLength(1)
        expect(idsOf(seen.filter(({ id }) => !touched.has(id)))).toEqual(idsOf(stayed))
      }),
    ),
    { numRuns },
  )
}

/** A row that was created at another time is another row: it may stand before the cursor and after it. */
async function put(store: Store, written: Row): Promise<void> {
  await store.accept({ instanceId: written.id }, () => ({
    answer: 0,
    change: {
      instance: instanceRow(written.id, { ...written, deletedAt: written.phase === 'deleted' ? 9 : undefined }),
    },
  }))
}

function shownOf(ledger: ReadonlyMap<string, Row>, filter: Filter): Row[] {
  const wanted = Object.entries(filter).filter(([, value]) => value !== undefined)
  return [...ledger.values()].filter(
    row =>
      wanted.every(([key, value]) => row[key as keyof Row] === value) &&
      (row.phase !== 'deleted' || filter.phase === 'deleted'),
  )
}

function idsOf(rows: readonly { readonly id: string }[]): string[] {
  return rows.map(({ id }) => id).sort()
}
