import { parseArgs } from 'node:util'
import { benchBundles } from './bundles.ts'
import { benchCatalog } from './catalog.ts'
import { benchEncrypted } from './encrypted.ts'
import { benchFairness } from './fairness.ts'
import { benchGrowth } from './growth.ts'
import { benchHttp } from './http.ts'
import { benchKubernetes } from './kubernetes.ts'
import { benchObserved } from './observed.ts'
import { benchOverload } from './overload.ts'
import { benchPostgres } from './postgres.ts'
import { benchPostgresGrowth } from './postgres-growth.ts'
import { benchDirectorySync, benchSync } from './registries.ts'
import { type Result, render } from './result.ts'
import { benchStart } from './start.ts'
import { benchStores } from './stores.ts'

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    only: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    instances: { type: 'string', default: '1000000' },
    'at-once': { type: 'string', default: '200' },
  },
})
const rounds = Number(values.rounds)
const parts: Readonly<Record<string, () => Promise<Result[]>>> = {
  http: () => benchHttp(rounds),
  growth: () => benchGrowth(rounds, Number(values.instances)),
  stores: () => benchStores(rounds),
  observed: () => benchObserved(rounds),
  encrypted: () => benchEncrypted(rounds),
  overload: () => benchOverload(),
  fairness: () => benchFairness(rounds),
  start: () => benchStart(rounds),
  sync: async () => [...(await benchSync(rounds)), ...(await benchDirectorySync(rounds))],
  catalog: () => benchCatalog(rounds),
  bundles: () => benchBundles(rounds),
  kubernetes: () => benchKubernetes(rounds, Number(values['at-once'])),
  postgres: () => benchPostgres(rounds),
  'growth-postgres': () => benchPostgresGrowth(rounds, Number(values.instances)),
}
if (values.only !== undefined && !Object.hasOwn(parts, values.only)) {
  console.error(`--only takes one of ${Object.keys(parts).join(', ')}`)
  process.exit(2)
}
const results: Result[] = []
for (const [name, part] of Object.entries(parts)) {
  if (values.only !== undefined && values.only !== name) continue
  process.stderr.write(`measuring ${name} ...\n`)
  results.push(...(await part()))
}
console.log(values.json ? JSON.stringify({ node: process.version, results }, null, 2) : render(results))
