/** One mongod in a folder of its own, with a port that it keeps. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Document, MongoClient } from 'mongodb'
import { freePort } from './free-port.ts'
import { findMongod } from './mongod-binary.ts'
import { removeLater } from './remove-later.ts'

export interface Mongod {
  readonly folder: string
  /** Its host and port. */
  readonly address: string
  /** Starts it on its data; `until` tells when it can be used. */
  start(): void
  /** Answers when it says hello in the wanted way. */
  until(isReady: (hello: Document) => boolean): Promise<void>
  /** Kills it without a warning. */
  kill(): Promise<void>
  signal(signal: NodeJS.Signals): void
  /** To this one alone, whatever it is in its set. */
  command(document: Document): Promise<Document>
  /** Kills it and removes its data. */
  remove(): Promise<void>
}

export async function createMongod(options: readonly string[]): Promise<Mongod> {
  const binary = await findMongod()
  const folder = mkdtempSync(join(tmpdir(), 'purser-mongodb-'))
  const port = await freePort()
  const address = `127.0.0.1:${port}`
  const place = ['--port', `${port}`, '--dbpath', folder, '--bind_ip', '127.0.0.1', '--nounixsocket']
  let server: ChildProcess | undefined

  const removeNow = () => {
    server?.kill('SIGKILL')
    removeLater(folder)
  }
  process.once('exit', removeNow)

  async function command(document: Document): Promise<Document> {
    const client = new MongoClient(`mongodb://${address}/?directConnection=true`, { serverSelectionTimeoutMS: 60_000 })
    try {
      return await client.db('admin').command(document, { readPreference: 'primaryPreferred' })
    } finally {
      await client.close()
    }
  }

  const hasEnded = () => server === undefined || server.exitCode !== null || server.signalCode !== null

  async function kill(): Promise<void> {
    if (server === undefined || hasEnded()) return
    const gone = once(server, 'exit')
    server.kill('SIGKILL')
    await gone
  }

  return {
    address,
    folder,
    start() {
      server = spawn(binary, [...place, ...options, '--wiredTigerCacheSizeGB', '0.25'], { stdio: 'ignore' })
    },
    async until(isReady) {
      // It is starting, or electing.
      while (!isReady(await command({ hello: 1 }).catch(() => ({})))) {
        if (hasEnded()) throw new Error(`${binary} has ended (exit code ${server?.exitCode})`)
        await new Promise(resolve => setTimeout(resolve, 50))
      }
    },
    kill,
    signal: signal => void server?.kill(signal),
    command,
    async remove() {
      process.off('exit', removeNow)
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export const isPrimary = (hello: Document) => hello.isWritablePrimary === true
export const isSecondary = (hello: Document) => hello.secondary === true
export const isAnswering = (hello: Document) => hello.isWritablePrimary !== undefined
