import { describe, expect, it } from 'vitest'
import type { LedgerRow, Store } from '../../src/store.ts'
import { provision } from '../../src/testing/store-contract/rows.ts'
import { describeSharedMongo } from '../store/mongodb-subject.ts'
import { describeSharedPostgres } from '../store/postgres-subject.ts'
import { exported, fenceIn, imported, richLedger, rowsIn } from './rich-ledger.ts'
import { describeStores, type NewStore, newMemory, newMongo, newPostgres, newSqlite } from './stores.ts'

async function movesTo(from: Store, newTarget: NewStore): Promise<void> {
  const file = await exported(from)
  const target = await newTarget()
  await imported(target, file)
  const moved = await exported(target)
  expect(rowsIn(moved)).toEqual(rowsIn(file))
  expect(fenceIn(moved)).toBeGreaterThanOrEqual(fenceIn(file))
}

/** A store with a rich ledger. */
async function filled(newStore: NewStore): Promise<Store> {
  const store = await newStore()
  await imported(store, await exported(await richLedger()))
  return store
}

describe('the rich ledger', () => {
  it('has rows of every kind', async () => {
    const text = await exported(await richLedger())
    const counts = JSON.parse(text.trim().split('\n').at(-1) ?? '').end.counts
    expect(Object.keys(counts).toSorted()).toEqual(
      'binding chore claim history instance ledger note operation registry revision service shared step'.split(' '),
    )
  })
})

describeStores('a ledger moves to memory and SQLite from', newStore => {
  it.each([1, 2, 3])('the same, with all that is in it (seed %i)', async seed => {
    const source = await newStore()
    const rich = await exported(await richLedger(seed))
    await imported(source, rich)
    expect(rowsIn(await exported(source))).toEqual(rowsIn(rich))
  })

  it('memory', async () => movesTo(await filled(newStore), newMemory))
  it('sqlite', async () => movesTo(await filled(newStore), newSqlite))
})

describeSharedPostgres('a ledger moves to PostgreSQL', server => {
  const target = () => newPostgres(server.url)
  it('from memory', async () => movesTo(await richLedger(), target))
  it('from SQLite', async () => movesTo(await filled(newSqlite), target))
  it('from PostgreSQL', async () => movesTo(await filled(target), target))
  describeSharedMongo('and', mongo => {
    it('from MongoDB', async () => movesTo(await filled(() => newMongo(mongo().url)), target))
    it('to MongoDB', async () => movesTo(await filled(target), () => newMongo(mongo().url)))
  })
})

describeSharedMongo('a ledger moves to MongoDB', server => {
  const target = () => newMongo(server().url)
  it('from memory', async () => movesTo(await richLedger(), target))
  it('from SQLite', async () => movesTo(await filled(newSqlite), target))
  it('from MongoDB', async () => movesTo(await filled(target), target))
})

describeStores('an export', newStore => {
  it('is of one moment, whatever is written meanwhile', async () => {
    const store = await filled(newStore)
    const before = await exported(store)
    const seen: LedgerRow[] = []
    await store.moving?.exportRows(async rows => {
      if (seen.length === 0) await provision(store, 'meanwhile')
      seen.push(...rows)
    })
    expect(await store.instance('meanwhile')).toBeDefined()
    expect(JSON.stringify(seen)).not.toContain('meanwhile')
    expect(seen.length).toBe(rowsIn(before).length)
    expect(rowsIn(await exported(store)).length).toBeGreaterThan(seen.length)
  })
})

describeStores('an import', newStore => {
  const half = (file: string) => {
    const checks = file
      .split('\n')
      .findLastIndex((line, index, all) => line.includes('"check"') && index < all.length - 4)
    return `${file
      .split('\n')
      .slice(0, checks + 1)
      .join('\n')}\n`
  }

  it('goes on where it stopped, also after a part that was not written', async () => {
    const file = await exported(await filled(newSqlite))
    const store = await newStore()
    const cut = half(file)
    await expect(imported(store, `${cut}{"line":\n`)).rejects.toThrow(/is not JSON/)
    await expect(imported(store, cut)).rejects.toThrow('it is not complete')
    const state = await store.moving?.importState()
    expect(state).toMatchObject({ empty: false, progress: { line: cut.split('\n').length - 1 } })
    expect(await imported(store, file)).toMatchObject({ resumedAfter: state?.progress?.line })
    expect(rowsIn(await exported(store))).toEqual(rowsIn(file))
    expect(await store.moving?.importState()).toEqual({ empty: false, progress: undefined })
  })

  it('is refused where the ledger is in use, and where another import has begun', async () => {
    const store = await filled(newStore)
    const before = rowsIn(await exported(store))
    await expect(imported(store, await exported(await richLedger(2)))).rejects.toThrow(/is not empty/)
    expect(rowsIn(await exported(store))).toEqual(before)
    const other = await newStore()
    await expect(imported(other, half(await exported(await filled(newSqlite))))).rejects.toThrow('it is not complete')
    await expect(imported(other, await exported(await richLedger(2)))).rejects.toThrow(/an import of another export/)
  })

  it('takes nothing of what was changed by hand, from the last check on', async () => {
    const store = await newStore()
    const file = await exported(await richLedger())
    const broken = file.replace('"platform":"cf"', '"platform":"cx"')
    expect(broken).not.toBe(file)
    await expect(imported(store, broken)).rejects.toThrow(/line \d+ cannot be used: the lines before it are not those/)
    expect((await store.listInstances()).items).toEqual([])
  })

  it.each<[string, (file: string) => string, RegExp]>([
    ['another file', () => '{"a":1}\n', /line 1 is not the header/],
    ['nothing', () => '', /the file is empty/],
    ['a line that is missing', file => file.replace(/\n.*\n/, '\n'), /line 2 cannot be used: it has the number 3/],
    ['a later format', file => file.replace('"version":1', '"version":2'), /version 2 of its format/],
    ['rows of an unknown kind', file => file.replace('"ledger":{', '"legder":{'), /rows of the kind "legder"/],
  ])('refuses %s', async (_, change, reason) => {
    const store = await newStore()
    await expect(imported(store, change(await exported(await richLedger())))).rejects.toThrow(reason)
    expect(await store.moving?.importState()).toEqual({ empty: true, progress: undefined })
  })

  it('refuses what was exported without secrets, which holds none', async () => {
    const store = await filled(newStore)
    const open = await exported(store, false)
    for (const key of ['"parameters"', '"state":{', '"result"', '"input"', '"output"', '"dashboardToken"'])
      expect(open).not.toContain(key)
    expect(open).toContain('"instance"')
    await expect(imported(await newStore(), open)).rejects.toThrow(/without what is secret/)
  })
})
