import { dirname, join, resolve } from 'node:path'
import type { BrokerDefinition } from '../author/broker-definition.ts'
import { sleep, systemClock } from '../clock.ts'
import { openBroker, timeForLastAnswers } from '../create-broker.ts'
import { createDemoBroker } from '../demo/demo-broker.ts'
import { listen, type RunningServer } from '../http/node.ts'
import { createLog } from '../observer/log.ts'
import { combineObservers } from '../observer.ts'
import type { OpenBundlesParts } from '../running/bundles/open.ts'
import type { RegistryOptions } from '../running/start-broker.ts'
import { StartError } from '../running/start-error.ts'
import { sensitive } from '../sensitive/sensitive.ts'
import { type Config, type ConfigFlags, loadConfig, maskStoreUrl, toSettings } from './config.ts'
import { demoCredentials } from './demo-credentials.ts'
import { followFiles } from './follow-files.ts'
import { findBrokerModule, loadBrokerModule } from './load-broker.ts'
import { hasCredentials, knownPasswordRule, refuseUnsafe } from './refuse-unsafe.ts'
import { openSignIn } from './sign-in.ts'
import { untilStopped } from './signals.ts'
import { welcome } from './welcome.ts'

export interface ServeOptions extends Omit<ConfigFlags, 'broker'> {
  readonly module?: string | undefined
  readonly config?: string | undefined
  /** Serves the demo catalog where no broker is named. */
  readonly demo?: boolean | undefined
  /** How people call this command, for the texts that say what to try next. */
  readonly command: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly stdout: { write(text: string): unknown; readonly isTTY?: boolean }
}

/** `purser serve`: from the configuration to a running broker, until a signal ends it. Resolves when it has ended. */
export async function runServe(options: ServeOptions): Promise<void> {
  const { env, cwd, stdout } = options
  // From the beginning: a process that is asked to end while it starts hands back what it has claimed by then.
  const stopped = untilStopped()
  const demoFolder = join(cwd, '.purser')
  const isDemo = ({ broker }: Config) => options.demo === true && broker === undefined
  const load = async () => {
    const { module, host, port, store, set } = options
    const flags = { broker: module, host, port, store, set }
    const read = await loadConfig({ file: options.config, env, flags, cwd, terminal: stdout.isTTY === true })
    return isDemo(read) ? withDemo(read, options, demoFolder) : read
  }
  const config = await load()
  const demo = isDemo(config)
  const log = createLog({
    ...config.log,
    areas: Object.fromEntries(config.log.areas.map(({ area, level }) => [area, level])),
  })
  const observer = combineObservers(log.observer)
  await refuseUnsafe(config, env)
  const isOpen = !hasCredentials(config)
  const signIn = isOpen ? undefined : await openSignIn(config, observer, knownPasswordRule(config, env))

  let server: RunningServer | undefined
  const url = () => config.server.publicUrl ?? server?.url ?? ''
  const definition = demo
    ? createDemoBroker({ folder: join(demoFolder, 'kv'), url })
    : await loadDefinition(config, cwd)
  for (const warning of config.warnings) observer['configuration.warning']?.({ message: warning })
  const broker = openBroker(
    config.catalog === undefined ? definition : { ...definition, catalog: config.catalog },
    {
      store: config.store.reveal(),
      authenticator: signIn?.authenticator ?? 'none',
      settings: toSettings(config),
      observer,
    },
    {
      log: log.levels,
      openRegistries: opened => openRegistries(config, { ...opened, env, hidden: privateFolders(config) }),
    },
  )
  try {
    const running = await broker.running()
    const { host, port, tls, headerLimit, requestTimeout, maxConnections } = config.server
    const limits = { headerLimit, requestTimeout, headersTimeout: requestTimeout, maxConnections }
    server = await listen({ app: broker.handle, host, port, tls, limits, observer })
    const served = { url: url(), store: maskStoreUrl(config.store) }
    const usernames = config.auth.basic.map(user => user.username)
    if (demo || config.log.format === 'people')
      stdout.write(
        welcome({ ...served, users: usernames, demo, console: config.console.enabled, command: options.command, env }),
      )
    observer['broker.serving']?.({ ...served, services: running.context.services.offerings.length })
    if (isOpen) observer['broker.open']?.({ url: url() })
    const following = new AbortController()
    const reloading = followFiles({ config, load, signIn, server, observer, env }, following.signal)
    const signal = await stopped
    // Ctrl-C comes from a person, and no load balancer has to notice first.
    const delayMs = signal === 'SIGINT' ? 0 : config.server.shutdownDelay
    observer['broker.stopping']?.({ signal, delayMs, graceMs: config.server.shutdownGrace })
    running.announceStop()
    server.announceClose()
    await sleep(systemClock, delayMs)
    following.abort()
    await reloading
  } finally {
    // New connections are refused. Running requests may end while the worker does; those that wait
    // for an operation are told when it has been handed back, so they need a little longer.
    await Promise.all([broker.close(), server?.close(config.server.shutdownGrace + timeForLastAnswers)])
  }
  observer['broker.stopped']?.({})
  endSoon()
}

/** Passwords may stand in the configuration. */
function privateFolders({ file, server }: Config): readonly string[] {
  return [file, server.tls?.key].flatMap(path => (path === undefined ? [] : dirname(resolve(path))))
}

/** Without registries nothing of it is loaded. */
async function openRegistries(config: Config, parts: OpenBundlesParts): Promise<RegistryOptions | undefined> {
  // Instances of what came from a registry need their driver, also where no registry is configured any more.
  const isUsed = async () => ((await parts.store.catalog())?.revisions.length ?? 0) > 0
  if (config.registries.length === 0 && !config.osb.apbRoutes && !(await isUsed())) return undefined
  const { openBundles } = await import('../running/bundles/open.ts')
  return openBundles(config, parts)
}

async function loadDefinition(config: Config, cwd: string): Promise<BrokerDefinition> {
  const path = config.broker ?? findBrokerModule(cwd)
  if (path === undefined && (config.registries.length > 0 || config.osb.apbRoutes)) return { services: [] }
  if (path === undefined)
    throw new StartError(
      'There is no broker to serve.',
      `No module was named, and ${cwd} has neither a broker.mjs, broker.js or broker.ts nor a purser.yaml that names one or has registries.`,
      'Run "purser serve <module>", "purser init" for a new project, or "purser serve --demo" to look around.',
    )
  return loadBrokerModule(resolve(cwd, path))
}

/** A demo leaves its traces in one folder, which is easy to delete; a file or a flag that names a store is obeyed. */
async function withDemo(config: Config, options: ServeOptions, folder: string): Promise<Config> {
  const named = config.file !== undefined || options.store !== undefined || (options.env.PURSER_STORE ?? '') !== ''
  const store = named ? config.store : sensitive(`sqlite:${join(folder, 'demo.db')}`)
  const { auth } = config
  return { ...config, store, auth: hasCredentials(config) ? auth : { ...auth, basic: await demoCredentials(folder) } }
}

/** A process ends by itself when nothing is left to do; a database that never answers a good-bye would keep it for ever. */
function endSoon(): void {
  systemClock.after(1_000, () => process.exit())
}
