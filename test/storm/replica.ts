/** One replica of the broker in a process of its own: `replica.ts <settings>`. It says where it listens, and notes its writes. */
import { appendFileSync } from 'node:fs'
import { createBasicAuthenticator } from '../../src/authenticator/basic.ts'
import { type Clock, systemClock } from '../../src/clock.ts'
import { listen } from '../../src/http/node.ts'
import { createLogObserver } from '../../src/observer/log.ts'
import { openStore } from '../../src/running/open-store.ts'
import { startBroker } from '../../src/running/start-broker.ts'
import { readSettings } from '../../src/settings/settings.ts'
import type { Lease, Operation, Store, Taker } from '../../src/store.ts'
import { type LedgerNote, monotonicNow } from './record.ts'
import { createBackendClient, createStormService } from './service.ts'
import { passwordOf, type ReplicaSettings } from './settings.ts'

const settings = JSON.parse(process.argv[2] ?? '{}') as ReplicaSettings
const { leaseMs, callTimeoutMs } = settings
const clock: Clock = { ...systemClock, now: () => Date.now() + settings.clockOffsetMs }
const observer = createLogObserver({ format: 'people', level: 'warn' })

/** Written at once, so that it is there even if this process is killed in the next moment. */
function note(note: Omit<LedgerNote, 'replica' | 'end'>): void {
  const line: LedgerNote = { ...note, replica: `${settings.name}/${process.pid}`, end: monotonicNow() }
  appendFileSync(settings.notesFile, `${JSON.stringify(line)}\n`)
}

function noted(store: Store): Store {
  async function write<T>(
    type: LedgerNote['type'],
    { operationId: operation, fence }: Lease,
    call: () => Promise<T>,
    step?: string,
  ): Promise<T> {
    const start = monotonicNow()
    const answer = await call()
    const written = answer !== false && answer !== undefined
    note({ type, operation, fence, start, written, step })
    return answer
  }
  return {
    ...store,
    async claim(...request) {
      const start = monotonicNow()
      const claimed = await store.claim(...request)
      for (const { operation } of claimed.claims)
        note({ type: 'claim', operation: operation.id, fence: operation.fence, start, written: true })
      return claimed
    },
    /** An operation that is leased as it is accepted is claimed as well. */
    async accept(target, decide, taker) {
      const start = monotonicNow()
      const taken: Operation[] = []
      const noting: Taker | undefined = taker && {
        ...taker,
        taken(claim, now) {
          taken.push(claim.operation)
          taker.taken(claim, now)
        },
      }
      const answer = await store.accept(target, decide, noting)
      const last = taken.at(-1)
      if (last !== undefined) note({ type: 'claim', operation: last.id, fence: last.fence, start, written: true })
      return answer
    },
    checkpoint: (lease, checkpoint) => {
      const { step } = checkpoint
      const done = step?.state === 'done' ? step.name : undefined
      return write('checkpoint', lease, () => store.checkpoint(lease, checkpoint), done)
    },
    park: (lease, parking) => write('park', lease, () => store.park(lease, parking)),
    finish: (lease, decide) => write('finish', lease, () => store.finish(lease, decide)),
    share: (lease, key, wish) => write('share', lease, () => store.share(lease, key, wish)),
  }
}

const store = await openStore(settings.storeUrl, clock, {
  ledger: readSettings({ ledger: { connectTimeout: '3s', statementTimeout: '4s' } }).ledger,
  observer,
})
const broker = await startBroker({
  definition: { services: [createStormService(createBackendClient(settings.backendUrl, callTimeoutMs))] },
  store: noted(store),
  authenticator: createBasicAuthenticator(
    settings.platforms.map(platform => ({
      username: platform,
      password: passwordOf(platform),
      platform,
      roles: ['platform'],
    })),
  ),
  settings: readSettings({
    osb: { requireOrgAndSpace: false },
    engine: {
      lease: leaseMs,
      callTimeout: callTimeoutMs,
      pollInterval: 250,
      retry: { initial: 100, factor: 2, max: 1_000 },
    },
  }),
  clock,
  observer,
})
const server = await listen({ app: broker.app, host: '127.0.0.1', port: 0, clock, observer })

async function stop(): Promise<void> {
  await Promise.all([server.close(500), broker.stop(500)])
  await store.close()
  process.exit()
}

process.once('SIGTERM', () => void stop())
process.once('disconnect', () => process.exit())
process.send?.({ url: server.url })
