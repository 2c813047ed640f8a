// Three-step operations accepted and completed by an embedded broker in this process, so many in flight at a time.
// `in-flight.mjs <store URL> <settings as JSON>`; asked `{ inFlight, ms }` it answers `{ perSecond, cpuUs }`.
import { createBroker, defineService } from '../../dist/index.js'
import { keepInFlight } from './keep-in-flight.mjs'

const [store = '', settings = '{}'] = process.argv.slice(2)
const service = defineService({
  id: 'bench',
  name: 'bench',
  description: 'What the benchmark provisions',
  bindable: false,
  plans: [{ id: 'plan-0', name: 'plan-0', description: 'A plan', free: true }],
  async provision(ctx) {
    for (let step = 0; step < 3; step++) await ctx.step(`step ${step}`, () => step)
    return { state: { size: 3 } }
  },
  deprovision() {},
})
const ended = new Map()
const observer = {
  'operation.succeeded': ({ instanceId }) => {
    ended.get(instanceId)()
    ended.delete(instanceId)
  },
}
const broker = createBroker(
  { services: [service] },
  { store, authenticator: 'none', observer, settings: JSON.parse(settings) },
)
await broker.start()
const wanted = { service_id: 'bench', plan_id: 'plan-0', organization_guid: 'org', space_guid: 'space' }
const body = Buffer.from(JSON.stringify(wanted))
const headers = { 'x-broker-api-version': '2.17', 'content-type': 'application/json' }
const run = `${process.pid}-${Date.now()}`

keepInFlight(async n => {
  const id = `${run}-${n}`
  const end = new Promise(resolve => ended.set(id, resolve))
  const url = `/v2/service_instances/${id}?accepts_incomplete=true`
  const { status } = await broker.handle({ method: 'PUT', url, headers, encrypted: false, body: async () => body })
  if (status !== 202) throw new Error(`an answer had the status ${status}`)
  await end
})
