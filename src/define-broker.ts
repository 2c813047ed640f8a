import type { FastifyPluginAsync } from 'fastify'
import { createOpenAuthenticator } from './authenticator/open.ts'
import type { Authenticator } from './authenticator.ts'
import type { BrokerDefinition } from './author/broker-definition.ts'
import type { BrokerSettings } from './broker/settings.ts'
import { systemClock } from './clock.ts'
import { toFastifyPlugin } from './http/fastify.ts'
import { toFetch } from './http/fetch.ts'
import type { HttpApp } from './http/message.ts'
import type { Observer } from './observer.ts'
import { type LedgerOptions, openStore } from './server/open-store.ts'
import { type Runtime, startRuntime } from './server/runtime.ts'

/** How a broker runs inside an application that is not ours. `purser serve` takes all of this from its configuration. */
export interface EmbeddingOptions {
  /** `memory:` (the default, forgets), `sqlite:<file>`, `postgres://…` or `mongodb://…`. */
  readonly store?: string
  /** For a store on a database server. */
  readonly ledger?: LedgerOptions
  /** Who may call; without one everybody may, so the application must guard the routes itself. */
  readonly authenticator?: Authenticator
  readonly settings?: Partial<BrokerSettings>
  readonly publicUrl?: string
  readonly observer?: Observer
}

export interface DefinedBroker {
  readonly definition: BrokerDefinition
  /** The broker as a function; it starts with the first request. */
  readonly fetch: (request: Request) => Promise<Response>
  /** The broker as a Fastify plugin; it starts with the application and stops with it. */
  readonly plugin: FastifyPluginAsync
  /** Starts an embedded broker ahead of its first request. */
  start(): Promise<Runtime>
  /** Ends it: running operations get `graceMs`, then go back to the ledger. */
  close(graceMs?: number): Promise<void>
}

/** A broker is its services; everything around them is ours. */
export function defineBroker(definition: BrokerDefinition & { readonly embed?: EmbeddingOptions }): DefinedBroker {
  const { embed = {}, ...rest } = definition
  let running: Promise<Runtime> | undefined
  const start = () => {
    running ??= startEmbedded(rest, embed)
    return running
  }
  const app: HttpApp = async request => (await start()).app(request)
  const close = async (graceMs = 10_000) => {
    const runtime = await running
    running = undefined
    await runtime?.stop(graceMs)
    await runtime?.store.close()
  }
  return { definition: rest, fetch: toFetch(app), plugin: toPlugin(app, start, close), start, close }
}

function toPlugin(app: HttpApp, start: () => Promise<Runtime>, close: () => Promise<void>): FastifyPluginAsync {
  const mount = toFastifyPlugin(app)
  return async (scope, options) => {
    await start()
    scope.addHook('onClose', () => close())
    await mount(scope, options)
  }
}

async function startEmbedded(definition: BrokerDefinition, embed: EmbeddingOptions): Promise<Runtime> {
  const store = await openStore(embed.store ?? 'memory:', systemClock, {
    ...embed.ledger,
    observer: embed.observer,
  })
  try {
    return await startRuntime({
      definition,
      store,
      authenticator: embed.authenticator ?? createOpenAuthenticator(),
      settings: embed.settings,
      publicUrl: embed.publicUrl,
      observer: embed.observer,
    })
  } catch (error) {
    await store.close()
    throw error
  }
}
