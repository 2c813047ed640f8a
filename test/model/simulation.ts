import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AdminClient, OsbClient } from '../../src/client/index.ts'
import { silent } from '../../src/observer.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { openSqliteStore } from '../../src/store/sqlite/index.ts'
import type { Store } from '../../src/store.ts'
import { type CrashableStore, type CrashPoint, createCrashableStore } from '../../src/testing/crash-points.ts'
import { createLedgerWatch, type LedgerWatch } from '../../src/testing/ledger-watch.ts'
import { startTestBroker } from '../../src/testing/test-broker.ts'
import { createVirtualClock, type VirtualClock } from '../../src/testing/virtual-clock.ts'
import { adminOf } from '../verbs/admin.ts'
import { type Backend, createBackend, createModelService } from './backend.ts'

export type StoreKind = 'memory' | 'sqlite'
export const storeKinds: readonly StoreKind[] = ['memory', 'sqlite']

/** One broker on one ledger, with a backend that outlives it. It can be killed at any of its calls and started again. */
export interface Simulation {
  readonly clock: VirtualClock
  readonly backend: Backend
  readonly watch: LedgerWatch
  /** Whether instances share a resource. */
  readonly shared: boolean
  /** The ledger itself, for questions that no platform can ask. */
  ledger(): Store
  /** Sends one request; undefined where the broker died before it answered. Starts the broker if it is not running. */
  send<T>(request: (client: OsbClient, admin: AdminClient) => Promise<T>): Promise<T | undefined>
  /** The broker dies `points` calls (before and after are two) from now; undefined: not by itself. */
  crashIn(points: number | undefined): Promise<void>
  isCrashed(): boolean
  crash(): void
  restart(): Promise<void>
  /** Time passes, in steps, each until nothing is under way. */
  advance(ms: number, stepMs?: number): Promise<void>
  /** Whole points since the last start. */
  passed(): number
  end(): Promise<void>
}

export interface SimulationOptions {
  readonly kind: StoreKind
  readonly shared?: boolean
  readonly onPoint?: (point: CrashPoint) => void
}

export async function createSimulation({ kind, shared = false, onPoint }: SimulationOptions): Promise<Simulation> {
  const clock = createVirtualClock()
  const backend = createBackend(clock)
  const watch = createLedgerWatch()
  const folder = kind === 'sqlite' ? mkdtempSync(join(tmpdir(), 'purser-model-')) : undefined
  const open = async () =>
    folder === undefined ? createMemoryStore({ clock }) : openSqliteStore({ file: join(folder, 'ledger.db'), clock })
  const service = createModelService(backend, shared)
  let real = await open()
  let process:
    | { readonly crashable: CrashableStore; readonly client: OsbClient; readonly admin: AdminClient }
    | undefined

  async function start() {
    const crashable = createCrashableStore(watch.wrap(real), onPoint)
    const broker = await startTestBroker({
      services: [service],
      settings: { osb: { requireOrgAndSpace: false } },
      random: () => 0.5,
      observer: silent,
      clock,
      store: crashable.store,
    })
    process = { crashable, client: broker.client, admin: adminOf(broker) }
    return process
  }

  async function restart(): Promise<void> {
    if (process !== undefined) process.crashable.crash()
    await settle()
    if (folder !== undefined) {
      await real.close()
      real = await open()
    }
    await start()
    await settle()
  }

  /** Several quiet turns in a row: what was waiting for an answer has had the time to ask again. */
  async function settle(): Promise<void> {
    for (let quiet = 0; quiet < 4; quiet += 1) {
      await new Promise(resolve => setImmediate(resolve))
      if (watch.underWay() > 0) quiet = 0
    }
  }

  async function running() {
    if (process === undefined || process.crashable.isCrashed()) await restart()
    return process ?? start()
  }

  return {
    clock,
    backend,
    watch,
    shared,
    ledger: () => real,
    async send(request) {
      const { client, admin, crashable } = await running()
      await settle()
      // Background work may have died of a point that was set before.
      const answer = await Promise.race([request(client, admin), crashable.crashed.then(() => undefined)])
      await settle()
      return answer
    },
    async crashIn(points) {
      const { crashable } = await running()
      crashable.crashAt(points === undefined ? undefined : crashable.passed() + points)
    },
    isCrashed: () => process?.crashable.isCrashed() ?? true,
    crash: () => process?.crashable.crash(),
    restart,
    async advance(ms, stepMs = 1_000) {
      for (let left = ms; left > 0; left -= stepMs) {
        await clock.advance(Math.min(left, stepMs))
        await settle()
      }
    },
    passed: () => process?.crashable.passed() ?? 0,
    async end() {
      process?.crashable.crash()
      await settle()
      await real.close()
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
    },
  }
}
