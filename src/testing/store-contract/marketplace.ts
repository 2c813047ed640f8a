import type { CatalogChanges, Store } from '../../store.ts'
import { assert } from './assert.ts'
import { catalogIn, change, changesOf, idsIn, pin, registryRow, revisionRow, serviceRow } from './catalog-rows.ts'
import { present, standing } from './rows.ts'
import { durableStoreCase, storeCase } from './subject.ts'

const report = { added: ['service'] }

/** Everything that is stored of registries. */
async function everything(store: Store): Promise<unknown> {
  const { registries, lastChange } = await store.registries()
  return { catalog: await catalogIn(store), registries, lastChange, uses: await store.revisionUses() }
}

export const marketplaceCases = [
  storeCase('catalog: a ledger begins without any, and tells its clock', async ({ store, clock }) => {
    const catalog = await catalogIn(store)
    assert.deepEqual([catalog.services, catalog.revisions], [[], []])
    assert.equal(await store.catalog(catalog.version), undefined)
    assert.deepEqual(present(await store.registries()), { now: clock.now(), registries: [] })
    assert.deepEqual(await store.revisionUses(), [])
    await clock.advance(5)
    assert.equal((await store.registries()).now, clock.now())
  }),

  storeCase('catalog: what was written is told in full, by its ids', async ({ store, clock }) => {
    const { version } = await catalogIn(store)
    const revisions = [revisionRow('r1'), revisionRow('r2', 'other', { bundleVersion: '1.0', runtime: 1 })]
    const services = [serviceRow('other', 'r2', 7), serviceRow('service', 'r1')]
    const registries = [
      registryRow('a', { lastAnswerAt: 3, partial: true }),
      registryRow('b', { failures: 2, silentSince: 4, lastProblem: 'no “answer”' }),
    ]
    const changes = changesOf({
      insertRevisions: revisions.toReversed(),
      putServices: services.toReversed(),
      putRegistries: registries.toReversed(),
    })
    await clock.advance(3)
    assert.equal(await store.changeCatalog(version, changes, report), true)
    const catalog = await catalogIn(store)
    assert.ok(catalog.version > version)
    assert.deepEqual([catalog.services, catalog.revisions], [services, revisions])
    const lastChange = { at: clock.now(), report }
    assert.deepEqual(await store.registries(), { now: clock.now(), registries, lastChange })
  }),

  storeCase('catalog: who knows its version is told that nothing has changed', async ({ store }) => {
    const empty = await catalogIn(store)
    await change(store, { insertRevisions: [revisionRow('r')] })
    const catalog = await catalogIn(store)
    assert.equal(await store.catalog(catalog.version), undefined)
    assert.deepEqual(await store.catalog(empty.version), catalog)
    assert.deepEqual(await store.catalog(catalog.version + 1), catalog, 'of a ledger that was put back since')
  }),

  storeCase('catalog: what was decided from another version is refused as a whole', async ({ store }) => {
    const { version } = await catalogIn(store)
    await change(store, { insertRevisions: [revisionRow('r')], putServices: [serviceRow('service', 'r')] })
    const before = await everything(store)
    const stale: Partial<CatalogChanges>[] = [
      { insertRevisions: [revisionRow('late')] },
      { putServices: [serviceRow('service', 'r', 9)] },
      { deleteServices: ['service'] },
      { deleteRevisions: ['r'] },
    ]
    for (const part of stale) {
      const changes = changesOf({ ...part, putRegistries: [registryRow('a')] })
      assert.equal(await store.changeCatalog(version, changes, report), false)
      assert.equal(await store.changeCatalog(version + 2, changes, report), false)
    }
    assert.deepEqual(await everything(store), before)
  }),

  storeCase('catalog: rows of registries alone are written whatever the version is', async ({ store }) => {
    await change(store, { insertRevisions: [revisionRow('r')] })
    const before = await catalogIn(store)
    const write = (changes: Partial<CatalogChanges>) => store.changeCatalog(77, changesOf(changes), report)
    assert.equal(await write({ putRegistries: [registryRow('b'), registryRow('a', { failures: 1 })] }), true)
    assert.equal(await write({ putRegistries: [registryRow('a', { checkedAt: 5 })] }), true)
    const registries = [registryRow('a', { checkedAt: 5 }), registryRow('b')]
    assert.deepEqual((await store.registries()).registries, registries)
    assert.equal(await write({ deleteRegistries: ['a', 'never'] }), true)
    const after = await store.registries()
    assert.deepEqual([after.registries, after.lastChange], [[registryRow('b')], undefined])
    assert.deepEqual(await catalogIn(store), before)
  }),

  storeCase('catalog: what changes nothing is not a new version, and its report is not kept', async ({ store }) => {
    await change(store, { insertRevisions: [revisionRow('r')], putServices: [serviceRow('service', 'r')] })
    const before = await everything(store)
    const same = changesOf({
      insertRevisions: [revisionRow('r', 'service', { firstSeenAt: 99 })],
      putServices: [serviceRow('service', 'r')],
      deleteServices: ['never', 'service'],
      deleteRevisions: ['never', 'r'],
    })
    assert.equal(await store.changeCatalog((await catalogIn(store)).version, same, report), true)
    assert.deepEqual(await everything(store), before)
  }),

  storeCase('catalog: each change is a new version, a row that is replaced included', async ({ store }) => {
    const versions = [(await catalogIn(store)).version]
    const changes: Partial<CatalogChanges>[] = [
      { insertRevisions: [revisionRow('r'), revisionRow('s')] },
      { putServices: [serviceRow('service', 'r')] },
      { putServices: [serviceRow('service', 's')] },
      { putServices: [serviceRow('service', 's', 4)] },
      { putServices: [serviceRow('service', 's')] },
      { deleteRevisions: ['r'] },
      { putServices: [serviceRow('service', 's', 5)], deleteServices: ['service'] },
    ]
    for (const part of changes) {
      await change(store, part)
      versions.push((await catalogIn(store)).version)
    }
    assert.deepEqual(
      versions.toSorted((a, b) => a - b),
      [...new Set(versions)],
    )
    assert.deepEqual(await idsIn(store), [[], ['s']])
  }),

  storeCase('catalog: the latest report is kept, with its time', async ({ store, clock }) => {
    const write = async (id: string, ...reports: [] | [object]) => {
      const { version } = await catalogIn(store)
      await store.changeCatalog(version, changesOf({ insertRevisions: [revisionRow(id)] }), ...(reports as []))
      return (await store.registries()).lastChange
    }
    assert.equal(await write('a'), undefined)
    const first = await write('b', { first: true })
    assert.deepEqual(first, { at: clock.now(), report: { first: true } })
    await clock.advance(10)
    assert.deepEqual(await write('c'), first, 'a change that says nothing leaves what was said')
    assert.deepEqual(await write('d', { second: ['ü'] }), { at: clock.now(), report: { second: ['ü'] } })
  }),

  storeCase('catalog: a service without its revision is refused, and nothing is written', async ({ store }) => {
    const before = await everything(store)
    const changes = changesOf({
      insertRevisions: [revisionRow('r')],
      putServices: [serviceRow('service', 'r'), serviceRow('other', 'never')],
      putRegistries: [registryRow('a')],
    })
    await assert.rejects(store.changeCatalog((await catalogIn(store)).version, changes))
    assert.deepEqual(await everything(store), before)
  }),

  storeCase('catalog: a service that is not retired stays; retired in the same change, it goes', async ({ store }) => {
    await change(store, { insertRevisions: [revisionRow('r')], putServices: [serviceRow('service', 'r')] })
    await change(store, { deleteServices: ['service'], deleteRevisions: ['r'] })
    assert.deepEqual(await idsIn(store), [['service'], ['r']])
    const gone = { deleteServices: ['service'], deleteRevisions: ['r'] }
    await change(store, { putServices: [serviceRow('service', 'r', 5)], ...gone })
    assert.deepEqual(await idsIn(store), [[], []])
  }),

  storeCase('catalog: a service that stays keeps its current revision', async ({ store }) => {
    const revisions = [revisionRow('old'), revisionRow('new')]
    await change(store, { insertRevisions: revisions, putServices: [serviceRow('service', 'new', 5)] })
    await pin(store, 'i', { revisionId: 'old' })
    await change(store, { deleteServices: ['service'], deleteRevisions: ['new', 'old'] })
    assert.deepEqual(await idsIn(store), [['service'], ['new', 'old']])
  }),

  storeCase('catalog: large texts, and texts that no database likes', async ({ store }) => {
    const odd = 'nul \u0000, lone \ud800 and \udfff, 🦊, "quoted", \\u0000'
    const offering = { ...revisionRow('r').offering, description: odd, metadata: { [odd]: odd } }
    const revisions = [
      revisionRow('odd', 'service', { source: odd, foundAs: odd, image: odd, offering }),
      ...['x', 'ü', '\u0001', '"', '\\', '🦊'].map((letter, index) =>
        revisionRow(`r${index}`, `service ${index}`, { source: letter.repeat(2 ** 20 / letter.length) }),
      ),
    ]
    const { version } = await catalogIn(store)
    const registries = [registryRow('a', { lastProblem: odd })]
    const changes = changesOf({ insertRevisions: revisions, putRegistries: registries })
    assert.equal(await store.changeCatalog(version, changes, { odd }), true)
    assert.deepEqual((await catalogIn(store)).revisions, revisions)
    const told = await store.registries()
    assert.deepEqual([told.registries, told.lastChange?.report], [registries, { odd }])
    await standing(store, 'i', { revisionId: 'odd', planId: odd })
    assert.deepEqual(await store.revisionUses(), [{ revisionId: 'odd', planId: odd, instances: 1 }])
  }),

  storeCase('catalog: a thousand in one change, and gone in one', async ({ store }) => {
    const numbers = Array.from({ length: 1_000 }, (_, index) => String(index).padStart(4, '0'))
    const revisions = numbers.map(number => revisionRow(`r${number}`, `s${number}`))
    const services = numbers.map(number => serviceRow(`s${number}`, `r${number}`, 1))
    await change(store, { insertRevisions: revisions, putServices: services })
    const catalog = await catalogIn(store)
    assert.deepEqual([catalog.services, catalog.revisions], [services, revisions])
    await standing(store, 'i', { revisionId: 'r0007' })
    await change(store, {
      deleteServices: services.map(({ serviceId }) => serviceId),
      deleteRevisions: revisions.map(({ id }) => id),
    })
    assert.deepEqual(await idsIn(store), [['s0007'], ['r0007']])
  }),

  durableStoreCase('catalog: everything of it survives, and its version goes on', async ({ store, reopen }) => {
    const changes = changesOf({
      insertRevisions: [revisionRow('r')],
      putServices: [serviceRow('service', 'r', 5)],
      putRegistries: [registryRow('a')],
    })
    const { version } = await catalogIn(store)
    await store.changeCatalog(version, changes, report)
    await pin(store, 'i', { revisionId: 'r' })
    const before = await everything(store)
    const again = await reopen()
    assert.deepEqual(await everything(again), before)
    const late = changesOf({ deleteServices: ['service'], deleteRevisions: ['r'] })
    assert.equal(await again.changeCatalog(version, late), false)
    await change(again, late)
    assert.deepEqual(await everything(again), before, 'the instance still needs it')
    await standing(again, 'i')
    await change(again, late)
    assert.deepEqual(await idsIn(again), [[], []])
  }),
]
