/** A broker behind a real socket, in real time, on a store that a test may take away from it. */
import { onTestFinished } from 'vitest'
import { createOpenAuthenticator } from '../../src/authenticator/open.ts'
import { createOsbClient, type OsbClient } from '../../src/client/index.ts'
import type { Clock } from '../../src/clock.ts'
import { listen } from '../../src/http/node.ts'
import type { Service } from '../../src/index.ts'
import { observeLines } from '../../src/observer/log.ts'
import type { Observer } from '../../src/observer.ts'
import { startBroker } from '../../src/running/start-broker.ts'
import { readSettings, type Settings } from '../../src/settings/settings.ts'
import type { Store } from '../../src/store.ts'
import { serviceOf } from '../engine/world.ts'

const quick: Settings['engine'] = {
  lease: '3s',
  callTimeout: '1200ms',
  pollInterval: '100ms',
  retry: { initial: 50, factor: 2, max: 500 },
}

export interface ReplicaOptions {
  readonly service: Partial<Service>
  readonly settings?: Settings
  readonly clock?: Clock
}

export interface Replica {
  readonly url: string
  readonly client: OsbClient
  readonly store: Store
  /** What it told its operator: level and message. */
  readonly log: readonly string[]
  /** Everything that it told, fields included, as one text. */
  readonly said: () => string
}

export function createLog() {
  const log: string[] = []
  const details: string[] = []
  const observer = observeLines('info', ({ level, text, fields }) => {
    log.push(`${level} ${text}`)
    details.push(`${text} ${JSON.stringify(fields)}`)
  })
  return { log, observer, said: () => details.join('\n') }
}

/** Stops with the test; the store is closed after it. */
export async function startReplica(
  open: (observer: Observer) => Promise<Store>,
  options: ReplicaOptions,
): Promise<Replica> {
  const { log, observer, said } = createLog()
  const store = await open(observer)
  onTestFinished(() => store.close())
  const broker = await startBroker({
    definition: { services: [serviceOf(options.service)] },
    store,
    observer,
    authenticator: createOpenAuthenticator(),
    settings: readSettings({
      ...options.settings,
      osb: { requireOrgAndSpace: false, ...options.settings?.osb },
      engine: { ...quick, ...options.settings?.engine },
    }),
    clock: options.clock,
  })
  const server = await listen({ app: broker.app, host: '127.0.0.1', port: 0 })
  onTestFinished(async () => {
    await broker.stop(0)
    await server.close(0)
  })
  return { url: server.url, client: createOsbClient({ url: server.url, timeout: 120_000 }), store, log, said }
}

/** Between two looks at a process, or a server, that works on its own time; nothing depends on how long it is. */
export async function until<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}

/** The final state of an operation, polled as a platform does: a 5xx is no news. */
export function ended(client: OsbClient, instanceId: string, operation: string): Promise<string> {
  return until(async () => {
    const { status, body } = await client.lastOperation(instanceId, { operation })
    if (status !== 200 && status < 500) throw new Error(`the poll was answered ${status}`)
    return body.state === 'succeeded' || body.state === 'failed' ? body.state : undefined
  })
}
