/** A real MongoDB for tests: a replica set of one server, in a folder of its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MongoClient } from 'mongodb'
import { freePort } from './free-port.ts'
import { findMongod } from './mongod-binary.ts'
import { whyNot } from './wanted.ts'

export interface MongoServer {
  readonly url: string
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
  const binary = await findMongod()
  const folder = mkdtempSync(join(tmpdir(), 'purser-mongodb-'))
  const port = await freePort()
  const direct = `mongodb://127.0.0.1:${port}/?directConnection=true`
  const replication = standalone ? [] : ['--replSet', 'rs0', '--oplogSize', '64']
  const place = ['--port', `${port}`, '--dbpath', folder, '--bind_ip', '127.0.0.1', '--nounixsocket']
  let server: ChildProcess | undefined

  const killNow = () => void server?.kill('SIGKILL')
  process.once('exit', killNow)

  async function start(): Promise<void> {
    server = spawn(binary, [...place, ...replication, '--wiredTigerCacheSizeGB', '0.25'], {
      stdio: ['ignore', 'ignore', 'ignore'],
    })
    await Promise.race([ready(direct, port, standalone), once(server, 'exit').then(([code]) => refuse(binary, code))])
  }

  async function kill(): Promise<void> {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
    const gone = once(server, 'exit')
    server.kill('SIGKILL')
    await gone
  }

  await start()
  return {
    url: standalone ? direct : `mongodb://127.0.0.1:${port}/?replicaSet=rs0`,
    kill,
    start,
    async restart() {
      await kill()
      await start()
    },
    async stop() {
      process.off('exit', killNow)
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Answers when the server takes writes. */
async function ready(url: string, port: number, standalone: boolean): Promise<void> {
  const members = [{ _id: 0, host: `127.0.0.1:${port}` }]
  for (;;) {
    const client = new MongoClient(url, { serverSelectionTimeoutMS: 60_000 })
    try {
      const admin = client.db('admin')
      const hello = await admin.command({ hello: 1 })
      if (hello.isWritablePrimary) return
      if (!standalone && hello.setName === undefined) await admin.command({ replSetInitiate: { _id: 'rs0', members } })
    } catch {
      // It is starting, or electing itself.
    } finally {
      await client.close()
    }
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

function refuse(binary: string, code: unknown): never {
  throw new Error(`${binary} did not start (exit code ${String(code)})`)
}
