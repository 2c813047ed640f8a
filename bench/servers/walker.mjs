// A replica whose operations take many short steps, and that tells of each of them.
// `walker.mjs <store URL> <settings as JSON>`
import { createBroker, defineService } from '../../dist/index.js'

const [store = '', settings = '{}'] = process.argv.slice(2)
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
await createBroker({ services: [service] }, { store, authenticator: 'none', settings: JSON.parse(settings) }).start()
process.send?.('ready')
