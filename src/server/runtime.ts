import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { hostname } from 'node:os'
import type { Authenticator } from '../authenticator.ts'
import type { BrokerDefinition } from '../author/broker-definition.ts'
import type { Broker } from '../broker/broker.ts'
import { createChoreTasks } from '../broker/chores/create-tasks.ts'
import { createFindWork } from '../broker/find-work.ts'
import { type DeclaredOfferings, resolveServices } from '../broker/resolve-services.ts'
import { type BrokerSettings, defaultSettings } from '../broker/settings.ts'
import { type Clock, systemClock } from '../clock.ts'
import { startChores } from '../engine/chores.ts'
import { createOutage } from '../engine/outage.ts'
import { Worker } from '../engine/worker.ts'
import { createApp } from '../http/app.ts'
import type { HttpApp } from '../http/message.ts'
import { type Observer, silent } from '../observer.ts'
import type { Store } from '../store.ts'
import { createReadiness } from './readiness.ts'

export interface RuntimeOptions {
  readonly definition: BrokerDefinition
  readonly store: Store
  readonly authenticator: Authenticator
  readonly settings?: Partial<BrokerSettings>
  readonly concurrency?: number
  readonly pollIntervalMs?: number
  readonly bodyLimit?: number
  readonly publicUrl?: string
  readonly clock?: Clock
  readonly observer?: Observer
  readonly random?: () => number
}

/** A broker at work: its application, the worker that ends what it has accepted, and its chores. */
export interface Runtime {
  readonly app: HttpApp
  readonly store: Store
  readonly broker: Broker
  /**
   * Claims nothing more, interrupts its chores, gives running operations `graceMs`, hands the leases of the rest back and
   * lets requests go that still wait for one. The store is the caller's to close.
   */
  stop(graceMs: number): Promise<void>
}

/** Puts the parts together. Refuses a catalog that could not work before anything runs. */
export async function startRuntime(options: RuntimeOptions): Promise<Runtime> {
  const { definition, store, clock = systemClock, observer = silent, random = Math.random } = options
  const settings = { ...defaultSettings, ...options.settings }
  const services = await resolveServices(definition.services, await declaredOfferings(definition), settings)
  for (const warning of services.warnings) observer.warn(`catalog: ${warning}`)
  const stopping = new AbortController()
  // Every request that waits listens to it, and that may be many.
  setMaxListeners(0, stopping.signal)
  const readiness = createReadiness(store, clock)
  let ending = false
  const storeNow = () => worker.storeNow()
  const broker: Broker = { services, store, clock, storeNow, observer, settings, stopping: stopping.signal }
  // The library behind it is loaded here, and not with `purser --help`.
  const { createSchedule } = await import('../engine/schedule.ts')
  const observes = definition.services.some(service => service.observe !== undefined)
  const tasks = createChoreTasks(broker, { createSchedule, observes, random })
  const owner = `${hostname()}/${process.pid}/${randomUUID()}`
  const outage = createOutage(store.name, observer, clock)
  const worker = new Worker({
    store,
    clock,
    observer,
    random,
    findWork: createFindWork(broker, definition.hooks ?? [], random),
    owner,
    concurrency: options.concurrency ?? 16,
    leaseMs: settings.leaseMs,
    pollIntervalMs: options.pollIntervalMs ?? 1_000,
    outage,
  })
  const chores = startChores({ store, clock, observer, owner, leaseMs: settings.leaseMs, tasks, outage })
  const { presentCatalog } = definition
  const app = createApp({
    broker,
    authenticator: options.authenticator,
    chores,
    routes: definition.routes ?? [],
    ...(presentCatalog === undefined
      ? {}
      : { presentCatalog: async (offerings, platform) => presentCatalog(offerings, platform) }),
    bodyLimit: options.bodyLimit ?? 1024 * 1024,
    ...(options.publicUrl === undefined ? {} : { publicUrl: options.publicUrl }),
    health: { readiness: () => (ending ? Promise.resolve('stopping') : readiness()) },
  })
  worker.start()
  return {
    app,
    store,
    broker,
    async stop(graceMs) {
      ending = true
      await Promise.all([chores.stop(), worker.stop(graceMs)])
      stopping.abort()
    },
  }
}

async function declaredOfferings({ catalog }: BrokerDefinition): Promise<DeclaredOfferings> {
  if (catalog === undefined) return { offerings: [], where: () => undefined }
  if (typeof catalog !== 'string') return { offerings: catalog, where: () => undefined }
  const { loadCatalogFile } = await import('../catalog/load-yaml.ts')
  return loadCatalogFile(catalog)
}
