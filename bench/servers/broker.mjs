// A whole broker from dist/: a store, basic authentication, the worker running. Counts the operations it has finished.
// `broker.mjs <store URL> <steps> [<settings as JSON>]`. With BENCH_LOG all requests and outcomes are logged to stdout, else
// only trouble. With BENCH_TRACES a tracing SDK records every span, and sends them nowhere.
import { combineObservers, createBroker, createLogObserver, defineService, logTrouble } from '../../dist/index.js'
import { createBasicAuthenticator, listen } from '../../dist/server/index.js'

const [store = '', steps = '3', settings = '{}'] = process.argv.slice(2)
if (process.env.BENCH_TRACES) await (await import('./tracing.mjs')).startTracing()
const logger = process.env.BENCH_LOG ? createLogObserver({ format: 'json' }) : logTrouble()
let finished = 0
const service = defineService({
  id: 'bench',
  name: 'bench',
  description: 'What the benchmark provisions',
  bindable: false,
  plans: Array.from({ length: 5 }, (_, i) => ({
    id: `plan-${i}`,
    name: `plan-${i}`,
    description: 'A plan',
    free: true,
  })),
  parameters: { type: 'object', properties: { size: { type: 'integer', minimum: 1, default: 1 } } },
  async provision(ctx) {
    for (let step = 0; step < Number(steps); step++) await ctx.step(`step ${step}`, () => step)
    return { state: { size: ctx.parameters.size } }
  },
  deprovision() {},
})
const counting = {
  'operation.succeeded': () => {
    finished++
  },
}
const broker = createBroker(
  { services: [service] },
  {
    store,
    authenticator: createBasicAuthenticator([
      { username: 'bench', password: 'bench', platform: 'default', roles: ['platform'] },
    ]),
    observer: combineObservers(counting, logger),
    settings: JSON.parse(settings),
  },
)
await broker.start()
const server = await listen({ app: broker.handle, host: '127.0.0.1', port: 0 })
process.on('message', () => process.send?.(finished))
process.send?.(server.port)
