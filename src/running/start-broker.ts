import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { hostname } from 'node:os'
import { createThrottle } from '../authenticator/throttle.ts'
import type { Authenticator } from '../authenticator.ts'
import type { BrokerDefinition } from '../author/broker-definition.ts'
import { createChoreTasks } from '../broker/chores/create-tasks.ts'
import type { BrokerContext } from '../broker/context.ts'
import { createFindWork } from '../broker/find-work.ts'
import { createGates } from '../broker/gates/gates.ts'
import type { RegisteredCatalogParts } from '../broker/registries/registered-catalog.ts'
import type { SyncParts } from '../broker/registries/sync.ts'
import { reportMissing } from '../broker/report-missing.ts'
import { resolveServices, type ServiceIndex } from '../broker/resolve-services.ts'
import { keepRefusedSignIns } from '../broker/sign-ins/keep-refused-sign-ins.ts'
import { whyUnknown } from '../broker/unknown-catalog.ts'
import type { LoadedCatalog } from '../catalog/load-yaml.ts'
import { type Clock, systemClock } from '../clock.ts'
import type { Drifted } from '../domain/decide-observe.ts'
import { startAnnouncing } from '../engine/announce.ts'
import type { ChoreRun } from '../engine/chore-run.ts'
import { type RunningChores, startChores } from '../engine/chores.ts'
import { type HeldName, holdName, type NameOptions } from '../engine/held-name.ts'
import { createOutage } from '../engine/outage.ts'
import { Queue } from '../engine/queue.ts'
import { Shares } from '../engine/shares.ts'
import { Worker } from '../engine/worker.ts'
import { type App, createApp } from '../http/app.ts'
import { createConsole } from '../http/console.ts'
import type { HttpApp } from '../http/message.ts'
import type { LogLevels } from '../observer/levels.ts'
import { combineObservers, type Observer, toError } from '../observer.ts'
import type { ReadSettings } from '../settings/settings.ts'
import type { Store } from '../store.ts'
import type { Tracer } from '../tracer.ts'
import { maskStore } from './masked-store.ts'
import { measureStore } from './measured-store.ts'
import { packageVersion } from './package-version.ts'
import { createReadiness } from './readiness.ts'
import type { OpenedMetrics } from './served-metrics.ts'
import { NameInUseError, StartError } from './start-error.ts'

export interface StartOptions {
  readonly definition: BrokerDefinition
  readonly store: Store
  readonly authenticator: Authenticator
  /** The authenticator lets everybody in: then only names of this machine are answered. */
  readonly open?: boolean
  readonly settings: ReadSettings
  /** Other than the setting, for tests: with 0 it accepts operations and leaves them to others. */
  readonly concurrency?: number
  readonly clock?: Clock
  readonly observer?: Observer
  /** Where they are served; the observer tells them what happens. */
  readonly metrics?: OpenedMetrics
  /** Where traces are on. */
  readonly tracer?: Tracer
  /** Where the log is written here: operators may change its levels. */
  readonly log?: LogLevels
  readonly random?: () => number
  /** Where services come from besides the definition. */
  readonly registries?: RegistryOptions
}

export interface RegistryOptions
  extends Pick<RegisteredCatalogParts, 'drive' | 'given' | 'onCatalog'>,
    Pick<SyncParts, 'registries'> {
  /** Removes the sandboxes on this machine that nobody needs any more; does not throw. */
  readonly removeUnusedSandboxes?: () => Promise<unknown>
  /** Keeps the images that instances need on this machine, until the signal is aborted; does not throw. */
  readonly keepPinned?: (stopping: AbortSignal) => Promise<void>
  /** Watches what services have made elsewhere, until the signal is aborted, and says what is worth a look; does not throw. */
  readonly watch?: (observeSoon: (drifted: Drifted) => Promise<void>, stopping: AbortSignal) => Promise<void>
}

/** A broker at work: its application, the worker that ends what it has accepted, and its chores. */
export interface RunningBroker {
  readonly app: HttpApp
  readonly answered: App['answered']
  readonly context: BrokerContext
  /** From here on `/readyz` says that it is being stopped; all else goes on. */
  announceStop(): void
  /**
   * Claims nothing more, interrupts its chores, gives running operations `grace`, hands the leases of the rest back and
   * lets requests go that still wait for one. The store is the caller's to close.
   */
  stop(grace: number): Promise<void>
}

/** Puts the parts together. Refuses a catalog that could not work before anything runs. */
export async function startBroker(options: StartOptions): Promise<RunningBroker> {
  const { definition, settings, tracer, clock = systemClock, random = Math.random } = options
  const { metrics } = options
  const observer = combineObservers(options.observer)
  const store = measureStore(maskStore(options.store, settings.history.mask), observer)
  const { engine, server } = settings
  await refuseHalfImported(store)
  const own = await resolveServices(definition, await declaredOfferings(definition), settings)
  for (const warning of own.warnings) observer['catalog.warning']?.({ message: warning })
  if (settings.osb.apbRoutes) checkPushes(options.registries)
  const registries = options.registries && (await openRegistries(options.registries, own, store, settings))
  const services = registries?.services ?? own
  const stopping = new AbortController()
  // Every request that waits listens to it, and that may be many.
  setMaxListeners(0, stopping.signal)
  const readiness = createReadiness(store, clock)
  /** Ends the streams first of all, so that pages look for another process. */
  const leaving = new AbortController()
  const { concurrency = engine.concurrency } = options
  const { pollInterval } = engine
  const { perService, perPlatform } = engine
  const ofService = new Map(
    definition.services.flatMap(({ id, concurrency: most }) => (most === undefined ? [] : [[id, most] as const])),
  )
  const shares = new Shares({ isShared: () => services.offerings.length > 1, perService, ofService, perPlatform })
  const queue = new Queue({
    store,
    clock,
    concurrency,
    stopping: stopping.signal,
    passedBy: (wanted, free) => shares.passedBy(wanted, free),
  })
  const broker: BrokerContext = {
    services,
    registered: registries?.registered,
    store,
    clock,
    storeNow: () => worker.storeNow(),
    gates: createGates(store, clock),
    offerPlace: () => worker.offerPlace(),
    observer,
    queue,
    tracer,
    settings,
    stopping: stopping.signal,
  }
  // The library behind it is loaded here, and not with `purser --help`.
  const { createSchedule } = await import('../engine/schedule.ts')
  // What registries bring may have something to observe, too.
  const observes = registries !== undefined || definition.services.some(service => service.observe !== undefined)
  const sync = registries?.createSync(broker)
  const tasks = createChoreTasks(broker, { createSchedule, observes, random, sync })
  const owner = `${hostname()}/${process.pid}/${randomUUID()}`
  const outage = createOutage(store.name, observer, clock)
  const name =
    engine.name === undefined ? undefined : await takeName({ store, clock, observer, owner, outage, name: engine.name })
  const holder = { store, clock, observer, owner, leaseTime: engine.lease, outage, isSure: name?.isSure }
  const worker = new Worker({
    ...holder,
    random,
    tracer,
    findWork: createFindWork(broker, definition.hooks ?? [], random),
    concurrency,
    pollInterval,
    queue,
    shares,
  })
  const chores = startChores({ ...holder, tasks })
  const [since, version] = [clock.now(), packageVersion()]
  const describe = () => ({
    name: engine.name,
    version,
    host: hostname(),
    pid: process.pid,
    node: process.version,
    since,
    ...worker.load,
    free: worker.load.slots - worker.load.used,
  })
  const refusals = keepRefusedSignIns(broker)
  const { handle: app, answered } = createApp({
    broker,
    countRefused: refusals.count,
    authenticator: options.authenticator,
    chores,
    leaving: leaving.signal,
    worker: { owner, describe },
    registries: registries?.shown,
    apb: settings.osb.apbRoutes ? registries?.createApb(broker) : undefined,
    console: settings.console.enabled ? createConsole() : undefined,
    routes: definition.routes ?? [],
    presentCatalog: definition.presentCatalog,
    metrics,
    log: options.log,
    bodyLimit: server.bodyLimit,
    publicUrl: server.publicUrl,
    throttle: createRequestThrottle(settings.limits, clock),
    open: options.open,
    hosts: server.hosts,
    health: {
      readiness: async () => (leaving.signal.aborted ? 'stopping' : ((await readiness()) ?? whyUnknown(broker))),
    },
  })
  metrics?.follow({ broker, worker, chores })
  worker.start()
  const announcing = startAnnouncing({ store, clock, owner, describe })
  void reportMissing(broker)
  const following = registries?.follow(broker, chores)
  // Whoever is asking the registries already does it for all.
  if (sync !== undefined)
    await chores.run('sync').catch(error => observer['chore.startFailed']?.({ chore: 'sync', error: toError(error) }))
  return {
    app,
    answered,
    context: broker,
    announceStop() {
      leaving.abort()
    },
    async stop(grace) {
      leaving.abort()
      await Promise.all([chores.stop(), worker.stop(grace), announcing.stop(), refusals.stop()])
      await name?.release()
      stopping.abort()
      await following
    },
  }
}

/** So many principals are known at a time; one that is forgotten has its burst again. */
const mostPrincipals = 10_000

function createRequestThrottle({ requestsPerSecond, burst }: ReadSettings['limits'], clock: Clock) {
  if (requestsPerSecond === undefined) return undefined
  return createThrottle({ burst, interval: 1000 / requestsPerSecond, mostKeys: mostPrincipals }, clock)
}

/** Throws where another process lives under the name. */
async function takeName(options: NameOptions): Promise<HeldName> {
  const held = await holdName(options)
  if (!('taken' in held)) return held
  const { owner, since } = held.holder
  throw new NameInUseError(
    `The name ${options.name} is in use.`,
    `${owner} has it since ${new Date(since).toISOString()}, and it lives: it was seen while this process waited.`,
    'Stop that process, or give this one another engine.name; replicas need no name.',
  )
}

function checkPushes(options: RegistryOptions | undefined): void {
  if (options === undefined)
    throw new StartError(
      'osb.apbRoutes is on, and nothing can run what is pushed.',
      'This broker was made without "bundles".',
      'Give createBroker the option bundles: { registries: [] }, or turn osb.apbRoutes off.',
    )
  if (options.registries.some(({ name }) => name === 'apb-push'))
    throw new StartError(
      'There are two registries with the name "apb-push".',
      'With osb.apbRoutes, what is pushed has this name.',
      'Rename the one in the configuration, or turn osb.apbRoutes off.',
    )
}

/** Loaded only where there are registries. */
async function openRegistries(
  { registries, removeUnusedSandboxes, keepPinned, watch, ...parts }: RegistryOptions,
  own: ServiceIndex,
  store: Store,
  settings: ReadSettings,
) {
  const { createRegisteredCatalog, followCatalog, withRegistered } = await import(
    '../broker/registries/registered-catalog.ts'
  )
  const { syncRegistries } = await import('../broker/registries/sync.ts')
  const { keepRemovingUnusedSandboxes } = await import('../broker/registries/remove-unused-sandboxes.ts')
  const { syncOnChange } = await import('../broker/registries/sync-on-change.ts')
  const { createObserveSoon } = await import('../broker/registries/observe-soon.ts')
  const { createPushed, pushedRegistry } = await import('../broker/registries/pushed.ts')
  const names = registries.map(({ name }) => name)
  const unasked = settings.osb.apbRoutes ? [pushedRegistry] : []
  let listed = 0
  const registered = createRegisteredCatalog({ store, settings, registries: names, ...parts })
  await registered.refresh()
  const syncParts = { registered, registries, unasked, settings: settings.reconcile }
  const onListed = (bundles: number) => {
    listed = bundles
  }
  return {
    registered,
    services: withRegistered(own, registered),
    /** What operators see. */
    shown: [...registries, ...unasked.map(name => ({ name, type: 'pushed' }))],
    createSync: (broker: BrokerContext) => (run: ChoreRun) => syncRegistries(broker, { ...syncParts, onListed }, run),
    createApb: (broker: BrokerContext) => ({ ...createPushed(broker, syncParts), listed: () => listed }),
    follow: (broker: BrokerContext, chores: RunningChores) =>
      Promise.all([
        watch?.(createObserveSoon(broker, chores), broker.stopping),
        syncOnChange(registries, chores, broker),
        followCatalog(registered, broker),
        removeUnusedSandboxes && keepRemovingUnusedSandboxes(broker.clock, removeUnusedSandboxes, broker.stopping),
        keepPinned?.(broker.stopping),
      ]),
  }
}

async function declaredOfferings({ catalog }: BrokerDefinition): Promise<LoadedCatalog> {
  if (typeof catalog !== 'string')
    return { offerings: catalog ?? [], warnings: [], sharedPlanIds: false, where: () => undefined }
  const { loadCatalogFile } = await import('../catalog/load-yaml.ts')
  return loadCatalogFile(catalog, process.env)
}

/** What is not there yet would be taken for what never was: platforms would be told that it is gone. */
async function refuseHalfImported({ moving, name }: Store): Promise<void> {
  const progress = (await moving?.importState())?.progress
  if (progress === undefined) return
  throw new StartError(
    `${name} holds only a part of a ledger.`,
    `An import into it has stopped after line ${progress.line}.`,
    'Give purser import the same file again, or name another store.',
  )
}
