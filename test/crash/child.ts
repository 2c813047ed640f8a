/**
 * A broker in a process of its own, on SQLite, with a backend of files: `child.ts <folder>`. It kills itself where the
 * parent says: messages `{ crashIn: n }` (undefined: not at all), answered with the points passed since the last one.
 */
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createOpenAuthenticator } from '../../src/authenticator/open.ts'
import { sleep, systemClock } from '../../src/clock.ts'
import { listen } from '../../src/http/node.ts'
import { startBroker } from '../../src/running/start-broker.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { openSqliteStore } from '../../src/store/sqlite/index.ts'
import type { Store } from '../../src/store.ts'
import { createCrashPoints } from '../../src/testing/crash-points.ts'
import { serviceOf } from './service.ts'

export interface Ready {
  readonly url: string
}

export interface Passed {
  readonly passed: readonly string[]
}

const [folder = ''] = process.argv.slice(2)
mkdirSync(join(folder, 'things'), { recursive: true })

let passed: string[] = []
let fatal: number | undefined
let foundWork = false
/** Reads change nothing, and looks for work that find none come as often as the machine likes: they are not counted. */
const counted = new Set(['accept', 'checkpoint', 'park', 'finish', 'handBack', 'share', 'backend'])

const points = createCrashPoints(({ call, when }) => {
  if (!counted.has(call) && !(call === 'claim' && when === 'after' && foundWork)) return
  passed.push(`${when} ${call}`)
  if (passed.length === fatal) process.kill(process.pid, 'SIGKILL')
})

process.on('message', ({ crashIn }: { readonly crashIn?: number }) => {
  process.send?.({ passed } satisfies Passed)
  passed = []
  fatal = crashIn
})

/** Below the points: what has been committed is noted even if nobody lives to hear of it. */
function recorded(store: Store): Store {
  return {
    ...store,
    async claim(...request) {
      const claimed = await store.claim(...request)
      foundWork = claimed.claims.length > 0
      return claimed
    },
    async checkpoint(lease, checkpoint) {
      const written = await store.checkpoint(lease, checkpoint)
      if (written && checkpoint.step?.state === 'done')
        appendFileSync(join(folder, 'commits.log'), `${lease.operationId}/${checkpoint.step.name}\n`)
      return written
    },
  }
}

const backend = {
  put: (name: string, takesMs: number) =>
    points.around('backend', async () => {
      await sleep(systemClock, takesMs)
      writeFileSync(join(folder, 'things', name), '')
    }),
  drop: (name: string) => points.around('backend', () => rmSync(join(folder, 'things', name), { force: true })),
}

const store = await openSqliteStore({ file: join(folder, 'ledger.db'), clock: systemClock })
const broker = await startBroker({
  definition: { services: [serviceOf(backend)] },
  store: points.wrap(recorded(store)),
  authenticator: createOpenAuthenticator(),
  settings: readSettings({
    osb: { requireOrgAndSpace: false },
    engine: { lease: '1s', callTimeout: 400, pollInterval: 50, retry: { initial: 50, factor: 1, max: 50 } },
  }),
})
const { url } = await listen({ app: broker.app, host: '127.0.0.1', port: 0 })
process.send?.({ url } satisfies Ready)
