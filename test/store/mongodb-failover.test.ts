import { MongoClient } from 'mongodb'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Duration } from '../../src/shape/duration.ts'
import { openMongoStore } from '../../src/store/mongodb/index.ts'
import { type Store, StoreUnavailableError } from '../../src/store.ts'
import { finish, leaseOf, leaseTime, provision } from '../../src/testing/store-contract/rows.ts'
import { isSecondary, type Mongod } from '../external/mongod.ts'
import { whyNoMongo } from '../external/mongodb.ts'
import { type MongoSet, startMongoSet } from '../external/mongodb-set.ts'

const reason = await whyNoMongo()
const database = 'purser'

describe('mongodb: a replica set of three', { timeout: 180_000 }, () => {
  if (reason !== undefined) {
    it.skip(`no MongoDB: ${reason}`)
    return
  }
  it('answers nothing that can be rolled back, and shows nothing of it', async () => {
    // No election but the one that is asked for.
    const set = await startSet(600_000)
    const store = await openStore(set.url, '5s')
    await provision(store, 'claimed')
    await provision(store, 'claimable')
    const [held] = (await store.claim('w', 1, leaseTime)).claims.map(leaseOf)
    if (held === undefined) throw new Error('nothing was claimed')
    const primary = await set.primary()
    const others = set.members.filter(member => member !== primary)
    await Promise.all(others.map(other => other.kill()))

    const accepting = settled(provision(store, 'new'))
    const finishing = settled(finish(store, held))
    const claiming = settled(store.claim('v', 1, leaseTime))
    await untilAlone(primary, async client => {
      const operations = client.db(database).collection('purser_operation')
      const [accepted, finished, taken] = await Promise.all([
        client.db(database).collection('purser_instance').findOne({ id: 'new' }),
        operations.findOne({ state: 'succeeded' }),
        operations.findOne({ fence: { $lt: 0 } }),
      ])
      return accepted !== null && finished !== null && taken !== null
    })
    await expect(store.instance('new')).rejects.toThrow(StoreUnavailableError)
    expect((await store.instance('claimed'))?.phase).not.toBe('ready')
    expect((await store.operation(held.operationId))?.state).toBe('running')
    expect((await store.listInstances()).items.map(({ id }) => id).toSorted()).toEqual(['claimable', 'claimed'])

    await primary.command({ fsync: 1 })
    await primary.kill()
    for (const other of others) other.start()
    await Promise.all(others.map(other => other.until(isSecondary)))
    await set.elect(others)
    const [accepted, finished, claimed] = await Promise.all([accepting, finishing, claiming])
    primary.start()
    // What it had alone is gone from it as well.
    await untilAlone(primary, async client => {
      const operations = client.db(database).collection('purser_operation')
      return (await operations.findOne({ fence: { $lt: 0 } })) === null
    })

    // An attempt that was made again has found the new primary; otherwise nobody was told anything.
    expect((await store.instance('new')) !== undefined).toBe(accepted === undefined)
    expect((await store.operation(held.operationId))?.state).toBe(finished === undefined ? 'succeeded' : 'running')
    for (const error of [accepted, finished, claimed])
      if (error !== undefined) expect(error).toBeInstanceOf(StoreUnavailableError)
    await store.close()
  })

  it('says of nothing that it is not there when it cannot know', async () => {
    const set = await startSet(2_000)
    const store = await openStore(set.url)
    const primary = await set.primary()
    const cutOff = await openStore(`mongodb://${primary.address}/?directConnection=true`)
    await cutOff.ping()
    primary.signal('SIGSTOP')
    await set.untilOther(primary)
    const operation = await provision(store, 'new')
    const looks = Array.from({ length: 5 }, () => [cutOff.instance('new'), cutOff.operation(operation)]).flat()
    primary.signal('SIGCONT')
    for (const look of await Promise.allSettled(looks)) {
      if (look.status === 'fulfilled') expect(look.value).toBeDefined()
      else expect(look.reason).toBeInstanceOf(StoreUnavailableError)
    }
    await cutOff.close()
    await store.close()
  })
})

async function startSet(electionTimeoutMs: number): Promise<MongoSet> {
  const set = await startMongoSet({ electionTimeoutMs })
  onTestFinished(() => set.stop())
  return set
}

function openStore(url: string, statementTimeout: Duration = '60s'): Promise<Store> {
  return openMongoStore({ url, database, connectTimeout: '60s', statementTimeout })
}

/** What it was rejected with. */
function settled(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => undefined,
    error => error,
  )
}

/** Looks at what this member has, whether others have it or not. */
async function untilAlone({ address }: Mongod, look: (client: MongoClient) => Promise<boolean>): Promise<void> {
  const client = new MongoClient(`mongodb://${address}/?directConnection=true&readPreference=secondaryPreferred`)
  try {
    // It does not answer while it rolls back.
    while (!(await look(client).catch(() => false))) await new Promise(resolve => setTimeout(resolve, 50))
  } finally {
    await client.close()
  }
}
