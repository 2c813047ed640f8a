// A replica whose operations take many short steps, and that tells of each of them.
// `walker.mjs <store URL> <options of the store and the broker as JSON>`
import { defineService, logTrouble } from '../../dist/index.js'
import { createBasicAuthenticator, openStore, systemClock } from '../../dist/server/index.js'
import { startBroker } from '../../dist/server/running-broker.js'

const [url = '', options = '{}'] = process.argv.slice(2)
const { store: storeOptions, runtime: runtimeOptions } = JSON.parse(options)
const service = defineService({
  id: 'bench',
  name: 'bench',
  description: 'What the benchmark provisions',
  bindable: false,
  plans: [{ id: 'plan-0', name: 'plan-0', description: 'A plan', free: true }],
  async provision(ctx) {
    for (let step = 0; step < 10_000; step++)
      await ctx.step(`step ${step}`, async () => {
        process.send?.(step)
        await new Promise(resolve => setTimeout(resolve, 50))
      })
    return {}
  },
  deprovision() {},
})
await startBroker({
  definition: { services: [service] },
  store: await openStore(url, systemClock, storeOptions),
  authenticator: createBasicAuthenticator([
    { username: 'bench', password: 'bench', platform: 'default', roles: ['platform'] },
  ]),
  observer: logTrouble(),
  ...runtimeOptions,
})
process.send?.('ready')
