/** A replica of its own. `postgres-child.ts <url> <schema>` opens when told to, and says so. */
import { openPostgresStore } from '../../src/store/postgres/index.ts'
import { provision } from '../../src/testing/store-contract/rows.ts'

const [url = '', schema = ''] = process.argv.slice(2)
console.log('ready')
await new Promise(resolve => process.stdin.once('data', resolve))
const store = await openPostgresStore({ url, schema, connectTimeout: '2m', statementTimeout: '2m' })
await provision(store, `i${process.pid}`)
console.log('open')
await store.close()
process.stdin.destroy()
