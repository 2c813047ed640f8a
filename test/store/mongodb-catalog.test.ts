import { expect, it } from 'vitest'
import type { Transaction } from '../../src/store/mongodb/database.ts'
import { openMongoStore } from '../../src/store/mongodb/index.ts'
import { pinTo } from '../../src/store/mongodb/lanes.ts'
import { change, changesOf, idsIn, pin, revisionRow } from '../../src/testing/store-contract/catalog-rows.ts'
import { bind, instanceRow, standing } from '../../src/testing/store-contract/rows.ts'
import { hearOfCatalog, pick, raceForRevisions, raceForVersions } from './catalog-races.ts'
import { describeSharedMongo, withClient, withStores } from './mongodb-subject.ts'

describeSharedMongo('mongodb: the catalog of several replicas', server => {
  it('never has an instance pinned to a revision that is gone', async () => {
    await withStores(server(), 3, stores => raceForRevisions(stores, 12))
  })

  it('keeps a revision while somebody pins an instance to it', async () => {
    await withStores(server(), 1, async (stores, database) => {
      const store = pick(stores, 0)
      await standing(store, 'i')
      await change(store, { insertRevisions: [revisionRow('r')] })
      await withClient(server(), async client => {
        const rows = (name: string) => client.db(database).collection(`purser_${name}`)
        const session = client.startSession()
        session.startTransaction()
        const tx = {
          collections: { lane: rows('lane'), revision: rows('revision') },
          session,
        } as unknown as Transaction
        await pinTo(tx, ['r'])
        await rows('instance').updateOne({ id: 'i' }, { $set: { pins: ['r'] } }, { session })
        const deleted = change(store, { deleteRevisions: ['r'] })
        // Whoever deletes waits for the transaction; otherwise the revision is gone by then.
        await Promise.race([deleted, new Promise(resolve => setTimeout(resolve, 2_000))])
        await session.commitTransaction()
        await session.endSession()
        await deleted
      })
      expect(await idsIn(store)).toEqual([[], ['r']])
    })
  })

  it('takes one change of each version, and keeps no texts of the others', async () => {
    await withStores(server(), 3, async (stores, database) => {
      await raceForVersions(stores, 5)
      const store = pick(stores, 0)
      await change(store, { deleteRevisions: ['0.same'] })
      const lost = changesOf({ insertRevisions: [revisionRow('late')] })
      expect(await store.changeCatalog(0, lost)).toBe(false)
      const [, revisions] = await idsIn(store)
      expect(revisions).toHaveLength(9)
      expect(await countOf(database, 'purser_revision_text')).toBe(9)
    })
  })

  it('wakes the others when it has changed', async () => {
    await withStores(server(), 2, async stores => {
      expect(await hearOfCatalog(pick(stores, 0), pick(stores, 1))).toContainEqual({ type: 'catalog' })
    })
  })

  it('removes what was left by one who was cut off before his change was made', async () => {
    await withStores(server(), 1, async (stores, database) => {
      const store = pick(stores, 0)
      await change(store, { insertRevisions: [revisionRow('r')] })
      await withClient(server(), client =>
        client.db(database).collection('purser_revision_text').insertOne({ version: 1, doc: '{"id": "stray"}' }),
      )
      expect(await idsIn(store)).toEqual([[], ['r']])
      await change(store, { insertRevisions: [revisionRow('s')] })
      expect(await countOf(database, 'purser_revision_text')).toBe(2)
    })
  })

  it('is added to a ledger of the first schema, whose instances can be pinned and listed', async () => {
    await withStores(server(), 1, async (stores, database) => {
      await standing(pick(stores, 0), 'i')
      await bind(pick(stores, 0), 'i', 'b')
      await withClient(server(), async client => {
        const db = client.db(database)
        for (const name of ['catalog', 'registry', 'service', 'revision', 'revision_text', 'lane'])
          await db.collection(`purser_${name}`).drop()
        await db.collection('purser_instance').dropIndex('pins')
        for (const name of ['instance', 'binding', 'operation'])
          await db.collection(`purser_${name}`).updateMany({}, { $unset: { listed: 1 } })
        await db.collection('purser_operation').createIndex({ instance: 1, resource: 1 }, { name: 'by_instance' })
        await db.collection('purser_meta').updateOne({}, { $set: { version: 1, fence: 7 } })
      })
      const [store, beside] = await Promise.all([1, 2].map(() => openMongoStore({ url: server().url, database })))
      if (store === undefined || beside === undefined) throw new Error('two stores')
      expect(await store.instance('i')).toEqual(instanceRow('i', { phase: 'ready', created: true }))
      await change(store, { insertRevisions: [revisionRow('r')] })
      await pin(beside, 'i', { revisionId: 'r' })
      await change(beside, { deleteRevisions: ['r'] })
      expect(await idsIn(beside)).toEqual([[], ['r']])
      const meta = await withClient(server(), client => client.db(database).collection('purser_meta').findOne({}))
      expect(meta).toMatchObject({ version: 6, fence: 7 })
      expect((await store.listInstances({ serviceId: 'service' })).items.map(({ id }) => id)).toEqual(['i'])
      expect((await store.listBindings({ phase: 'creating' })).items.map(({ id }) => id)).toEqual(['b'])
      expect((await store.listOperations({ action: 'bind' })).items.map(({ id }) => id)).toEqual(['i:b:bind'])
      await Promise.all([store.close(), beside.close()])
    })
  })

  function countOf(database: string, collection: string): Promise<number> {
    return withClient(server(), client => client.db(database).collection(collection).countDocuments())
  }
})
