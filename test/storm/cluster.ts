/** Three replicas, each with a network of its own to the database, and somebody who starts again what has died. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Bundle } from './bundle.ts'
import type { Database } from './databases.ts'
import { createNetwork, type Network } from './network.ts'
import type { Random } from './random.ts'
import type { BackendRecord, LedgerNote } from './record.ts'
import type { BackendOrder, BackendSettings, ReplicaSettings, Timing } from './settings.ts'

export const replicaCount = 3

export interface ClusterOptions {
  readonly bundle: Bundle
  readonly database: Database
  readonly random: Random
  readonly timing: Timing
  readonly platforms: readonly string[]
  /** For notes and logs. */
  readonly folder: string
}

export class Replica {
  readonly name: string
  readonly network: Network
  readonly #start: () => ChildProcess
  #child: ChildProcess | undefined
  #url: string | undefined
  #wanted = true
  starts = 0

  constructor(name: string, network: Network, start: () => ChildProcess) {
    this.name = name
    this.network = network
    this.#start = start
  }

  /** Where it was last seen listening; undefined while it has not started yet. */
  get url(): string | undefined {
    return this.#url
  }

  run(): void {
    this.starts += 1
    const child = this.#start()
    this.#child = child
    child.on('message', message => {
      this.#url = (message as { readonly url: string }).url
    })
    child.once('exit', () => {
      this.#url = undefined
      if (this.#wanted) setTimeout(() => this.#wanted && this.run(), 100)
    })
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal)
  }

  async end(): Promise<void> {
    this.#wanted = false
    const child = this.#child
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const exit = once(child, 'exit')
      child.kill('SIGKILL')
      await exit
    }
    await this.network.close()
  }
}

export class Cluster {
  readonly replicas: Replica[] = []
  readonly #options: ClusterOptions
  readonly #killAll = () => {
    for (const replica of this.replicas) replica.signal('SIGKILL')
    this.#backend?.kill('SIGKILL')
  }
  #backend: ChildProcess | undefined
  #backendUrl = ''

  constructor(options: ClusterOptions) {
    this.#options = options
    process.once('exit', this.#killAll)
  }

  /** Resolves when all of them listen. */
  async start(): Promise<void> {
    const { bundle, random, timing, database } = this.#options
    const backend: BackendSettings = {
      seed: String(random.fork('backend').next()),
      callTimeoutMs: timing.callTimeoutMs,
    }
    this.#backend = this.#fork(bundle.backend, backend, 'backend')
    const [{ url }] = (await once(this.#backend, 'message')) as [{ readonly url: string }]
    this.#backendUrl = url
    for (let index = 0; index < replicaCount; index += 1) {
      const name = `replica-${index}`
      const network = await createNetwork(database.ports)
      const clocks = random.fork(`clock of ${name}`)
      this.replicas.push(new Replica(name, network, () => this.#startReplica(name, network, clocks)))
    }
    for (const replica of this.replicas) replica.run()
    await this.listening()
  }

  /** Every replica runs and answers. */
  async listening(): Promise<void> {
    for (const replica of this.replicas) {
      replica.network.thaw()
      replica.signal('SIGCONT')
    }
    await until('every replica listens', async () => {
      const answers = await Promise.all(this.replicas.map(({ url }) => (url === undefined ? false : isReady(url))))
      return answers.every(ready => ready)
    })
  }

  urls(): readonly string[] {
    return this.replicas.flatMap(({ url }) => (url === undefined ? [] : [url]))
  }

  async order(order: BackendOrder): Promise<void> {
    await fetch(`${this.#backendUrl}/order`, { method: 'POST', body: JSON.stringify(order) })
  }

  async backendRecord(): Promise<BackendRecord> {
    const response = await fetch(`${this.#backendUrl}/record`)
    const record = (await response.json()) as BackendRecord
    const time = ({ appliedAt = 0 }) => appliedAt
    return { ...record, calls: record.calls.toSorted((one, other) => time(one) - time(other)) }
  }

  notes(): readonly LedgerNote[] {
    if (!existsSync(this.#notesFile)) return []
    const lines = readFileSync(this.#notesFile, 'utf8').split('\n')
    return lines.filter(line => line.endsWith('}')).map(line => JSON.parse(line))
  }

  /** What the replicas have told their operators. */
  logs(): readonly string[] {
    return this.replicas.flatMap(({ name }) =>
      readFileSync(join(this.#options.folder, `${name}.log`), 'utf8').split('\n'),
    )
  }

  async end(): Promise<void> {
    await Promise.all(this.replicas.map(replica => replica.end()))
    this.#backend?.kill('SIGKILL')
    process.off('exit', this.#killAll)
  }

  get #notesFile(): string {
    return join(this.#options.folder, 'notes.jsonl')
  }

  #startReplica(name: string, network: Network, clocks: Random): ChildProcess {
    const { bundle, database, timing, platforms } = this.#options
    const settings: ReplicaSettings = {
      ...timing,
      name,
      platforms,
      storeUrl: database.urlAt(network.ports),
      backendUrl: this.#backendUrl,
      clockOffsetMs: clocks.int(-3_600_000, 3_600_000),
      notesFile: this.#notesFile,
    }
    return this.#fork(bundle.replica, settings, name)
  }

  #fork(script: string, settings: object, name: string): ChildProcess {
    const log = openSync(join(this.#options.folder, `${name}.log`), 'a')
    return fork(script, [JSON.stringify(settings)], { execArgv: [], stdio: ['ignore', log, log, 'ipc'] })
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(5_000)
    const { status } = await fetch(`${url}/readyz`, { signal })
    return status === 200
  } catch {
    return false
  }
}

/** Nothing depends on how long it takes; the limit is for what would never come. */
export async function until(what: string, isTrue: () => Promise<boolean>, limitMs = 180_000): Promise<void> {
  const start = performance.now()
  while (!(await isTrue())) {
    if (performance.now() - start > limitMs) throw new Error(`waited ${limitMs / 1000} s, and still not: ${what}`)
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}
