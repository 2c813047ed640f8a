import { expect, it } from 'vitest'
import { openMongoStore } from '../../src/store/mongodb/index.ts'
import { type Store, StoreOpenError, StoreUnavailableError, type WakeUp } from '../../src/store.ts'
import {
  claimOne,
  finish,
  instanceRow,
  leaseOf,
  operationRow,
  provision,
} from '../../src/testing/store-contract/rows.ts'
import { describeMongo, newDatabase, withClient, withStores } from './mongodb-subject.ts'

const patience = { timeout: 180_000 }

describeMongo('mongodb: a server that fails', server => {
  it('has everything it promised after kill -9, and of the rest all or nothing', patience, async () => {
    await withStores(server(), 2, async stores => {
      const outcomes = new Map<string, boolean>()
      const errors = new Set<unknown>()
      let next = 0
      let resolved = 0
      let resume = () => {}
      const enough = new Promise<void>(resolve => {
        resume = resolve
      })
      const write = async (store: Store) => {
        while (next < 400) {
          const id = `i${next++}`
          try {
            await accept(store, id)
            outcomes.set(id, true)
            resolved += 1
            if (resolved === 60) resume()
          } catch (error) {
            errors.add(error)
            outcomes.set(id, false)
          }
        }
      }
      const writers = Promise.all(Array.from({ length: 16 }, (_, index) => write(stores[index % 2] as Store)))
      await enough
      await server().restart()
      await writers
      expect(outcomes.size).toBe(400)
      for (const error of errors) expect(error).toBeInstanceOf(StoreUnavailableError)
      const [store] = stores as [Store]
      for (const [id, promised] of outcomes) {
        const parts = [await store.instance(id), await store.operation(`${id}:o`), (await store.history(id))[0]]
        const there = parts.filter(part => part !== undefined).length
        if (promised) expect(there, id).toBe(3)
        else expect([0, 3], id).toContain(there)
      }
    })
  })

  it('says unavailable while it is gone, and works again when it is back', patience, async () => {
    await withStores(
      server(),
      2,
      async ([store, other]) => {
        if (store === undefined || other === undefined) throw new Error('two stores')
        const heard: WakeUp[] = []
        other.onWakeUp(wakeUp => heard.push(wakeUp))
        await provision(store, 'i')
        const claim = await claimOne(store)
        await server().kill()
        const calls = [
          () => store.ping(),
          () => store.instance('i'),
          () => provision(store, 'j'),
          () => provision(store, 'j'),
          () => store.claim('w', 1, 1000),
          () => store.renew([leaseOf(claim)], 1000),
          () => store.checkpoint(leaseOf(claim), { state: {} }),
          () => finish(store, leaseOf(claim)),
        ]
        for (const outcome of await Promise.allSettled(calls.map(call => call())))
          expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'StoreUnavailableError' } })
        await server().start()
        await store.ping()
        expect(await finish(store, leaseOf(claim))).toBe(true)
        heard.length = 0
        for (let round = 0; heard.length === 0; round += 1) {
          await provision(store, `after ${round}`)
          await new Promise(resolve => setTimeout(resolve, 50))
        }
        expect((await store.instance('i'))?.phase).toBe('ready')
      },
      { connectTimeout: 500, statementTimeout: '2s' },
    )
  })

  it('says unavailable where nobody listens', async () => {
    const url = 'mongodb://user:secret@127.0.0.1:1/?replicaSet=rs0'
    const opening = openMongoStore({ url, connectTimeout: '200ms' })
    await expect(opening).rejects.toThrow(StoreUnavailableError)
    await expect(opening).rejects.toThrow(/^mongodb:\/\/127\.0\.0\.1:1\/purser cannot be used: no primary/)
  })

  it.each([
    ['mongodb://user:se/cret@127.0.0.1/', 'bad-url'],
    ['mongodb://user:secret@127.0.0.1/?noSuchOption=1', 'bad-url'],
    ['postgres://user:secret@127.0.0.1/', 'bad-url'],
  ])('refuses %s without showing the password', async (url, failure) => {
    const error = await openMongoStore({ url }).catch(error => error)
    expect(error).toBeInstanceOf(StoreOpenError)
    expect(error.failure).toBe(failure)
    expect(String(error.stack)).not.toMatch(/secret|cret@/)
    expect(error.cause).toBeUndefined()
  })

  it('refuses a schema that would name other collections', async () => {
    const opening = openMongoStore({ url: server().url, schema: 'a.b$' })
    await expect(opening).rejects.toMatchObject({ name: 'StoreOpenError', failure: 'bad-schema' })
  })

  it('refuses a ledger of a newer release, and changes nothing', async () => {
    await withStores(server(), 1, async ([store], database) => {
      await provision(store as Store, 'i')
      await withClient(server(), client =>
        client
          .db(database)
          .collection('purser_meta')
          .updateOne({}, { $set: { version: 99 } }),
      )
      const opening = openMongoStore({ url: server().url, database })
      await expect(opening).rejects.toMatchObject({ failure: 'newer-version' })
      await expect(opening).rejects.toThrow(/its schema is 99, this release knows 6/)
    })
  })

  it('refuses collections of another program, and takes empty ones', async () => {
    const database = newDatabase()
    await withClient(server(), async client => {
      const db = client.db(database)
      await db.createCollection('purser_shared')
      await (await openMongoStore({ url: server().url, database })).close()
      await db.collection('their_history').insertOne({ mine: false })
      const opening = openMongoStore({ url: server().url, database, schema: 'their' })
      await expect(opening).rejects.toMatchObject({ failure: 'foreign-collections' })
      await db.dropDatabase()
    })
  })
})

describeMongo(
  'mongodb: a single server',
  server => {
    it('is refused, with what to do', async () => {
      const opening = openMongoStore({ url: server().url })
      await expect(opening).rejects.toMatchObject({ name: 'StoreOpenError', failure: 'not-a-replica-set' })
      await expect(opening).rejects.toThrow(/start it with --replSet rs0 and run rs.initiate\(\)/)
    })
  },
  { standalone: true },
)

function accept(store: Store, id: string): Promise<string> {
  return store.accept({ instanceId: id }, ({ now, instance }) => {
    if (instance !== undefined) return { answer: 'again' }
    const event = { at: now, type: 'accepted', instanceId: id } as const
    return {
      answer: 'accepted',
      change: { instance: instanceRow(id), operations: [operationRow(`${id}:o`, id)], history: [event] },
    }
  })
}
