import { createOpenAuthenticator } from './authenticator/open.ts'
import { type Authenticator, combineAuthenticators } from './authenticator.ts'
import type { BrokerDefinition } from './author/broker-definition.ts'
import { type Clock, sleep, systemClock, wallClock } from './clock.ts'
import { withIdentity } from './http/app.ts'
import { Exchange, toEnded } from './http/exchange.ts'
import { toFetch } from './http/fetch.ts'
import type { HttpApp, HttpBroker, HttpRequest, HttpResponse } from './http/message.ts'
import { json } from './http/respond.ts'
import { eventTypes } from './observer/lines.ts'
import { logTrouble } from './observer/log.ts'
import { traceEnds } from './observer/traces.ts'
import { combineObservers, type Observer, toError } from './observer.ts'
import { BrokerError, toErrorBody } from './protocol/errors.ts'
import type { BundleOptions } from './running/bundles/from-options.ts'
import type { OpenedParts } from './running/bundles/open.ts'
import { openStore } from './running/open-store.ts'
import { openTracer } from './running/open-tracer.ts'
import { openMetrics } from './running/served-metrics.ts'
import { type RegistryOptions, type RunningBroker, type StartOptions, startBroker } from './running/start-broker.ts'
import { readSettings, type Settings } from './settings/settings.ts'
import { anything, code, hasMethods, judged } from './shape/fields.ts'
import { explain, inCode, typeName } from './shape/mistake.ts'
import { fromCode, isObject, showPath } from './shape/place.ts'
import { read } from './shape/read.ts'
import { object, optional } from './shape/shape.ts'
import type { Store } from './store.ts'

export interface BrokerOptions {
  /**
   * A URL: `sqlite:<file>`, `postgres://…`, `mongodb://…`, or `memory:` to try something out. Or a `Store` of your own. The
   * broker closes a store that it opened from a URL; a `Store` that it was given stays open, and is yours to close.
   */
  readonly store: string | Store
  /** Who may call. With several, the first one that recognises a request decides. `'none'`: everybody may who asks under a name of this machine. */
  readonly authenticator: Authenticator | readonly Authenticator[] | 'none'
  /** Hears what happens. Without one, warnings and errors are written to standard error. */
  readonly observer?: Observer
  /** The settings of the configuration, with the same names and durations. */
  readonly settings?: Settings
  /** Services that come from registries, and what runs them. */
  readonly bundles?: BundleOptions
  /** The machine's clock, unless told otherwise. */
  readonly clock?: Clock
}

/** A broker that can run. It starts once, and once closed it stays closed. */
export interface Broker extends HttpBroker {
  /** Answers a request of the web's kind. The first one starts the broker. */
  readonly fetch: (request: Request) => Promise<Response>
  /** The same without the web's objects: what `listen`, `purser/fastify` and `purser/express` call. */
  readonly handle: HttpApp
  /** Starts ahead of the first request. Throws what keeps it from starting; it can be called again after that. */
  start(): Promise<void>
  /** Takes no more work, gives running operations some time, hands the rest back to the ledger. Never throws. */
  close(): Promise<void>
}

/** Makes a broker from its definition. Nothing is opened before it starts. */
export function createBroker(definition: BrokerDefinition, options: BrokerOptions): Broker {
  checkArguments(definition, options)
  return openBroker(definition, options)
}

const given = optional(anything<unknown>('what BrokerOptions describes'))
const optionsShape = object(
  {
    store: given,
    authenticator: given,
    observer: optional(object(Object.fromEntries(eventTypes.map(type => [type, optional(code)])))),
    settings: given,
    bundles: optional(judged('an object with registries', isObject)),
    clock: optional(judged('a Clock', value => hasMethods(value, 'now', 'after'))),
  },
  { rule: 'an object with store and authenticator' },
)

function checkArguments(definition: unknown, options: unknown): void {
  if (!isObject(definition))
    throw new TypeError(`createBroker needs what defineBroker returns, not ${inCode(typeName(definition))}.`)
  const { mistakes } = read(optionsShape, fromCode(options))
  const found = mistakes.map(mistake => `  ${showPath(mistake.path) || 'it'} ${explain(mistake)}`)
  if (found.length > 0) throw new TypeError(`The options of createBroker are wrong:\n${found.join('\n')}`)
}

/** By its name, and by one method of each of its contracts. */
function isStore(value: unknown): boolean {
  const isNamed = isObject(value) && typeof value.name === 'string'
  return isNamed && hasMethods(value, 'accept', 'takeChore', 'catalog', 'note', 'instance', 'onWakeUp', 'close')
}

/** What `purser serve` and the test kit say besides. */
export interface BrokerParts extends Pick<StartOptions, 'concurrency' | 'random' | 'registries' | 'log'> {
  openRegistries?(opened: OpenedParts): Promise<RegistryOptions | undefined>
}

export interface OpenedBroker extends Broker {
  /** Starts it where that has not happened. */
  running(): Promise<RunningBroker>
  close(grace?: number): Promise<void>
}

/**
 * How long, after the grace, requests may take to be answered and the store to close. With the defaults of
 * `server.shutdownDelay` and `server.shutdownGrace` less than the 30 seconds that Kubernetes gives.
 */
export const timeForLastAnswers = 3_000

/** `createBroker`, with its inside in reach. */
export function openBroker(
  definition: BrokerDefinition,
  options: BrokerOptions,
  { openRegistries = toOpenRegistries(options), ...parts }: BrokerParts = {},
): OpenedBroker {
  const { clock = systemClock } = options
  const settings = readSettings(options.settings)
  const observer = combineObservers(options.observer ?? logTrouble())
  const authenticator = toAuthenticator(options.authenticator)
  if (typeof options.store !== 'string' && !isStore(options.store))
    throw new TypeError('createBroker needs a store: a URL such as "sqlite:broker.db", or a Store of your own.')
  let starting: Promise<RunningBroker> | undefined
  let running: RunningBroker | undefined
  let closing: Promise<void> | undefined

  async function open(): Promise<RunningBroker> {
    const { ledger, encryption } = settings
    const tracer = await openTracer(settings.traces, observer)
    const store =
      typeof options.store === 'string'
        ? await openStore(options.store, clock, { ledger, encryption, observer })
        : options.store
    try {
      const metrics = openMetrics(settings.metrics, store, clock)
      const told = combineObservers(observer, metrics?.observer, tracer && traceEnds(tracer))
      const storeNow = () => running?.context.storeNow() ?? clock.now()
      const registries =
        parts.registries ??
        (await openRegistries?.({ store, clock: options.clock ?? wallClock, observer: told, storeNow, tracer }))
      const all = {
        definition,
        store,
        authenticator,
        open: options.authenticator === 'none',
        settings,
        clock,
        observer: told,
        metrics,
        tracer,
        ...parts,
        registries,
      }
      running = await startBroker(all)
      return running
    } catch (error) {
      if (store !== options.store) await store.close()
      throw error
    }
  }

  function start(): Promise<RunningBroker> {
    if (closing !== undefined) return Promise.reject(new Error('This broker was closed. Make a new one.'))
    starting ??= open().catch(error => {
      starting = undefined
      throw error
    })
    return starting
  }

  async function end(grace: number): Promise<void> {
    const started = await starting?.catch(() => undefined)
    if (started === undefined) return
    await started.stop(grace)
    await Promise.race([started.answered(), sleep(clock, timeForLastAnswers)])
    running = undefined
    const { store } = started.context
    if (typeof options.store === 'string')
      await Promise.race([store.close().catch(() => {}), sleep(clock, timeForLastAnswers)])
  }

  function refuse(request: HttpRequest, error: BrokerError): HttpResponse {
    const response = withIdentity(json(error.status, toErrorBody(error)), request.headers)
    observer['request.ended']?.(toEnded(new Exchange(request, { clock, bodyLimit: 0 }), response, clock.now()))
    return response
  }

  /** A broker that is not there now: it is asked again later, and what went wrong is told to its operator only. */
  async function handleStopped(request: HttpRequest): Promise<HttpResponse> {
    if (closing !== undefined) return refuse(request, new BrokerError('ShuttingDown', 'This broker was closed.'))
    try {
      await start()
    } catch (error) {
      observer['broker.startFailed']?.({ error: toError(error) })
      return refuse(request, new BrokerError('CannotStart', 'The broker cannot start now. Its log says why.'))
    }
    return handle(request)
  }

  const handle: HttpApp = request => (running === undefined ? handleStopped(request) : running.app(request))

  return {
    handle,
    fetch: toFetch(handle),
    running: start,
    async start() {
      await start()
    },
    close(grace = settings.server.shutdownGrace) {
      closing ??= end(grace)
      return closing
    },
  }
}

/** Loaded only where there are bundles. */
function toOpenRegistries({ bundles }: BrokerOptions): BrokerParts['openRegistries'] {
  if (bundles === undefined) return undefined
  return async opened => {
    const { openBundlesFromOptions } = await import('./running/bundles/from-options.ts')
    return openBundlesFromOptions(bundles, opened)
  }
}

function toAuthenticator(given: BrokerOptions['authenticator']): Authenticator {
  if (given === 'none') return createOpenAuthenticator()
  const list: readonly Authenticator[] = Array.isArray(given) ? given : [given]
  if (list.length > 0 && list.every(one => typeof one?.authenticate === 'function')) return combineAuthenticators(list)
  throw new TypeError(
    "createBroker needs an authenticator, or several: createBasicAuthenticator(users) from 'purser/server' is one. A broker that lets everybody in says so: authenticator: 'none'.",
  )
}
