/** A real replica set of three servers, any of which can be lost. */
import { type Document, MongoClient } from 'mongodb'
import { createMongod, isAnswering, isPrimary, isSecondary, type Mongod } from './mongod.ts'

export interface MongoSet {
  readonly url: string
  readonly members: readonly Mongod[]
  /** Waits for one where there is none. */
  primary(): Promise<Mongod>
  /** Answers when another one is the primary. */
  untilOther(than: Mongod): Promise<Mongod>
  /** Makes one of these the primary, without waiting for the one that is. */
  elect(candidates: readonly Mongod[]): Promise<Mongod>
  stop(): Promise<void>
}

export interface SetOptions {
  /** How long the others wait for a silent primary; MongoDB's own default where absent. */
  readonly electionTimeoutMs?: number
}

export async function startMongoSet({ electionTimeoutMs }: SetOptions = {}): Promise<MongoSet> {
  // What a killed replica had open keeps others from an instance until the server ends it: after a minute, by default.
  const options = ['--replSet', 'rs0', '--oplogSize', '64', '--setParameter', 'transactionLifetimeLimitSeconds=10']
  const members = await Promise.all([0, 1, 2].map(() => createMongod(options)))
  const url = `mongodb://${members.map(({ address }) => address).join(',')}/?replicaSet=rs0`

  /** Asked anew each time: a client that has seen a primary believes in it for a while. */
  async function hello(): Promise<Document> {
    const client = new MongoClient(url, {
      serverSelectionTimeoutMS: 60_000,
      connectTimeoutMS: 2_000,
      socketTimeoutMS: 2_000,
    })
    try {
      return await client.db('admin').command({ hello: 1 })
    } finally {
      await client.close()
    }
  }

  async function primary(): Promise<Mongod> {
    for (;;) {
      const { me } = await hello().catch(() => ({ me: undefined }))
      const found = members.find(({ address }) => address === me)
      if (found !== undefined) return found
    }
  }

  async function elect(candidates: readonly Mongod[]): Promise<Mongod> {
    for (;;) {
      for (const candidate of candidates) {
        // Refused while it has not heard of the set, or is behind another one.
        await candidate.command({ replSetStepUp: 1 }).catch(() => {})
        if (isPrimary(await candidate.command({ hello: 1 }))) return candidate
      }
    }
  }

  for (const member of members) member.start()
  await Promise.all(members.map(member => member.until(isAnswering)))
  const [first] = members as [Mongod]
  await first.command({
    replSetInitiate: {
      _id: 'rs0',
      members: members.map(({ address: host }, _id) => ({ _id, host })),
      settings: electionTimeoutMs === undefined ? {} : { electionTimeoutMillis: electionTimeoutMs },
    },
  })
  const elected = await elect([first])
  await Promise.all(members.filter(member => member !== elected).map(member => member.until(isSecondary)))
  return {
    url,
    members,
    primary,
    elect,
    async untilOther(than) {
      for (;;) {
        const found = await primary()
        if (found !== than) return found
      }
    },
    async stop() {
      await Promise.all(members.map(member => member.remove()))
    },
  }
}
