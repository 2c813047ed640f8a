/** A broker as `purser serve` puts it together, in this process, so that its ledger can be looked at. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createOpenAuthenticator } from '../../src/authenticator/open.ts'
import type { Service } from '../../src/author/define-service.ts'
import { type AdminClient, createAdminClient, createOsbClient, type OsbClient } from '../../src/client/index.ts'
import { type Clock, sleep, systemClock } from '../../src/clock.ts'
import type { Revision } from '../../src/domain/revision.ts'
import { listen } from '../../src/http/node.ts'
import { createLogObserver } from '../../src/observer/log.ts'
import { openBundles } from '../../src/running/bundles/open.ts'
import { openStore } from '../../src/running/open-store.ts'
import { startBroker } from '../../src/running/start-broker.ts'
import { loadConfig, toSettings } from '../../src/server/config.ts'
import { readSettings } from '../../src/settings/settings.ts'
import type { Store } from '../../src/store.ts'

export interface OpenBroker {
  readonly client: OsbClient
  readonly admin: AdminClient
  readonly store: Store
  stop(): Promise<void>
}

export interface BrokerParts {
  /** Where purser.yaml is written to; paths in it start from there. */
  readonly folder: string
  readonly config: string
  /** What the registries wait by. */
  readonly clock: Clock
  /** What runs in the place of bundles. */
  readonly drive: (revision: Revision) => Service
  /** Every line of the log goes here. */
  readonly log: string[]
}

export async function openBroker({ folder, config: text, clock, drive, log }: BrokerParts): Promise<OpenBroker> {
  writeFileSync(join(folder, 'purser.yaml'), text)
  const config = await loadConfig({ env: {}, flags: {}, cwd: folder, terminal: false })
  const observer = createLogObserver({ format: 'json', level: 'info', stream: { write: line => log.push(line) } })
  const store = await openStore(config.store.reveal(), systemClock, { ledger: config.ledger, observer })
  const opened = await openBundles(config, { store, storeNow: systemClock.now, clock, env: {}, observer })
  const broker = await startBroker({
    definition: { services: [] },
    store,
    authenticator: createOpenAuthenticator(),
    settings: readSettings(toSettings(config)),
    observer,
    registries: { ...opened, drive },
  })
  const server = await listen({ app: broker.app, host: '127.0.0.1', port: 0, observer })
  return {
    client: createOsbClient({ url: server.url }),
    admin: createAdminClient({ url: server.url }),
    store,
    async stop() {
      await Promise.all([broker.stop(1_000), server.close(1_000)])
      await store.close()
    },
  }
}

/** Starts a sync and waits for its end; answers what the run says about it. */
export async function syncNow(admin: AdminClient): Promise<string | undefined> {
  for (;;) {
    const { status, text } = await admin.syncRegistries()
    if (status === 202) return endOfSync(admin)
    // One is running already, or the last one began in this very millisecond.
    if (status !== 409) throw new Error(`the sync was answered ${status} ${text}`)
    await sleep(systemClock, 20)
  }
}

export async function endOfSync(admin: AdminClient): Promise<string | undefined> {
  for (;;) {
    const { body } = await admin.chores()
    const sync = body.chores?.find(({ name }) => name === 'sync')
    if (sync?.finished_at !== undefined && !sync.running) return sync.message
    await sleep(systemClock, 20)
  }
}
