/**
 * A broker in a process of its own, on SQLite, that runs a bundle as processes: `bundle-child <folder> <supervisor as JSON>`.
 * It kills itself where the parent says, as child.ts does.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createOpenAuthenticator } from '../../src/authenticator/open.ts'
import { createUnusedSandboxRemover } from '../../src/broker/registries/remove-unused-sandboxes.ts'
import { systemClock } from '../../src/clock.ts'
import { createBundleDriver } from '../../src/driver/bundle/bundle-driver.ts'
import { listen } from '../../src/http/node.ts'
import { silent } from '../../src/observer.ts'
import { readRegistrySettings } from '../../src/registry/read-settings.ts'
import { createRegistry } from '../../src/registry/types.ts'
import { startBroker } from '../../src/running/start-broker.ts'
import { findContainment } from '../../src/sandbox/process/containment.ts'
import { createProcessRuntime } from '../../src/sandbox/process/process-runtime.ts'
import type { Runtime } from '../../src/sandbox.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { fromCode } from '../../src/shape/place.ts'
import { openSqliteStore } from '../../src/store/sqlite/index.ts'
import { createCrashPoints } from '../../src/testing/crash-points.ts'

const [folder = '', supervisor = ''] = process.argv.slice(2)

let passed: string[] = []
let fatal: number | undefined
/** What is written for the catalog and for chores comes by the clock: it is not counted. */
const counted = new Set(['accept', 'checkpoint', 'park', 'finish', 'handBack', 'start', 'collect', 'remove'])

const points = createCrashPoints(({ call, when }) => {
  if (!counted.has(call)) return
  passed.push(`${when} ${call}`)
  if (passed.length === fatal) process.kill(process.pid, 'SIGKILL')
})

process.on('message', ({ crashIn }: { readonly crashIn?: number }) => {
  process.send?.({ passed })
  passed = []
  fatal = crashIn
})

const processes = await createProcessRuntime({
  folder: join(folder, 's'),
  clock: systemClock,
  supervisor: JSON.parse(supervisor),
  containment: await findContainment(),
  ...(process.getuid?.() === 0 ? { user: { uid: 65_534, gid: 65_534 } } : {}),
})
const runtime: Runtime = {
  ...processes,
  start: spec => points.around('start', () => processes.start(spec)),
  collect: (name, secrets) => points.around('collect', () => processes.collect(name, secrets)),
  remove: name => points.around('remove', () => processes.remove(name)),
}

const entry = { name: 'local', type: 'directory', path: 'bundles', white_list: ['.*'], fail_on_error: true }
const { settings = [] } = readRegistrySettings(fromCode([entry]), folder)
const registries = settings.map(one => createRegistry(one, { clock: systemClock }))
const store = await openSqliteStore({ file: join(folder, 'ledger.db'), clock: systemClock })
const drive = createBundleDriver({
  runtimes: [runtime],
  host: 'here',
  programFor: async ({ revision }) => ({ kind: 'folder', folder: revision.image }),
  clock: systemClock,
  storeNow: () => systemClock.now(),
  limits: { time: 60_000 },
  network: 'allowed',
  env: {},
  helpers: {},
  secretsFor: async () => [],
  keepOnError: false,
  brokerLabel: 'crash',
  observer: silent,
})
const removeUnusedSandboxes = createUnusedSandboxRemover({
  runtimes: [processes],
  store,
  brokerLabel: 'crash',
  keepOnError: false,
  clock: systemClock,
  graceMs: 0,
  observer: silent,
})
const broker = await startBroker({
  definition: { services: [] },
  store: points.wrap(store),
  authenticator: createOpenAuthenticator(),
  settings: readSettings({
    osb: { requireOrgAndSpace: false },
    engine: { lease: '1s', callTimeout: 400, pollInterval: 50, retry: { initial: 50, factor: 1, max: 50 } },
    chores: { sync: '-' },
    reconcile: { retireAfter: '1h' },
  }),
  registries: {
    registries,
    drive,
    given: async () => [],
    onCatalog: async () => {},
    removeUnusedSandboxes,
  },
})
if (!existsSync(join(folder, 'bundles'))) throw new Error('there are no bundles')
const { url } = await listen({ app: broker.app, host: '127.0.0.1', port: 0 })
process.send?.({ url })
