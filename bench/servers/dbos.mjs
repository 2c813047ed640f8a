// The same as in-flight.mjs by DBOS, a durable engine on PostgreSQL, as far as it is installed in a folder of its own.
// `dbos.mjs <store URL> <folder> <connections>`
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { keepInFlight } from './keep-in-flight.mjs'

const [systemDatabaseUrl = '', folder = '', connections = '10'] = process.argv.slice(2)
const { DBOS } = createRequire(join(folder, 'package.json'))('@dbos-inc/dbos-sdk')
const provision = DBOS.registerWorkflow(
  async () => {
    for (let step = 0; step < 3; step++) await DBOS.runStep(async () => step, { name: `step ${step}` })
    return { size: 3 }
  },
  { name: 'provision' },
)
const settings = { logLevel: 'error', runAdminServer: false, systemDatabasePoolSize: Number(connections) }
DBOS.setConfig({ name: 'bench', systemDatabaseUrl, ...settings })
await DBOS.launch()

keepInFlight(async () => {
  const handle = await DBOS.startWorkflow(provision)()
  await handle.getResult()
})
