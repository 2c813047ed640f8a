/** A real MongoDB for tests: a replica set of one server. */
import { createMongod, isAnswering, isPrimary } from './mongod.ts'
import { findMongod } from './mongod-binary.ts'
import { whyNot } from './wanted.ts'

export interface MongoServer {
  readonly url: string
  /** Where its files are. */
  readonly folder: string
  /** Kills the server without a warning. */
  kill(): Promise<void>
  /** Starts it again on the same data. */
  start(): Promise<void>
  /** Both. */
  restart(): Promise<void>
  stop(): Promise<void>
}

export interface StartOptions {
  /** A single server, which the store refuses. */
  readonly standalone?: boolean
}

/** Why there is no MongoDB for these tests; undefined where there is one. */
export function whyNoMongo(): Promise<string | undefined> {
  return whyNot('mongodb', findMongod)
}

export async function startMongo({ standalone = false }: StartOptions = {}): Promise<MongoServer> {
  const server = await createMongod(standalone ? [] : ['--replSet', 'rs0', '--oplogSize', '64'])
  const { address, kill } = server
  async function start(): Promise<void> {
    server.start()
    await server.until(standalone ? isPrimary : isAnswering)
    const { setName } = await server.command({ hello: 1 })
    if (!standalone && setName === undefined)
      await server.command({ replSetInitiate: { _id: 'rs0', members: [{ _id: 0, host: address }] } })
    await server.until(isPrimary)
  }
  await start()
  return {
    folder: server.folder,
    url: `mongodb://${address}/?${standalone ? 'directConnection=true' : 'replicaSet=rs0'}`,
    kill,
    start,
    async restart() {
      await kill()
      await start()
    },
    stop: () => server.remove(),
  }
}
