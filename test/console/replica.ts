/** One replica as a process: node --import tsx replica.ts <store> <folder>. The folder has bundles and the switches of a test. */
import { join } from 'node:path'
import { createBasicAuthenticator } from '../../src/authenticator/basic.ts'
import { wallClock } from '../../src/clock.ts'
import { createBroker } from '../../src/create-broker.ts'
import { listen } from '../../src/http/node.ts'
import { createProcessRuntime } from '../../src/sandbox/process/process-runtime.ts'
import { createServices } from './services.ts'
import { users } from './users.ts'

const [store = 'memory:', folder = '.'] = process.argv.slice(2)
const supervisor = join(import.meta.dirname, '..', '..', 'dist', 'sandbox', 'process', 'supervisor.js')
const runtime = await createProcessRuntime({
  folder: join(folder, `run-${process.pid}`),
  ...(process.getuid?.() === 0 ? { user: { uid: 65534, gid: 65534 } } : {}),
  exposeFiles: true,
  clock: wallClock,
  supervisor: [process.execPath, supervisor],
})
const broker = createBroker(
  { services: createServices(folder) },
  {
    store,
    authenticator: createBasicAuthenticator(users),
    settings: {
      engine: { lease: '2s', callTimeout: '800ms', pollInterval: '100ms' },
      osb: { requireOrgAndSpace: false },
      chores: { observe: '* * * * * *' },
    },
    bundles: {
      registries: [{ name: 'local', type: 'directory', path: join(folder, 'bundles'), white_list: ['.*'] }],
      runtimes: [runtime],
    },
    observer: {},
  },
)
await broker.start()
const server = await listen({ app: broker.handle, host: '127.0.0.1', port: 0 })
process.stdout.write(`${server.url}\n`)
process.on('SIGTERM', () => {
  void Promise.all([broker.close(), server.close(500)]).then(() => process.exit(0))
})
