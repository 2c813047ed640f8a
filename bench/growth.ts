import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../src/clock.ts'
import { loadDriver } from '../src/store/sqlite/driver.ts'
import { openSqliteStore } from '../src/store/sqlite/index.ts'
import type { Store } from '../src/store.ts'
import { measureCosts } from './costs.ts'
import { atMost, type Result, type Round, toResult } from './result.ts'
import { newOperationRows } from './rows.ts'

/** What an accept, a poll and a claim cost with 1,000 and with 1,000,000 instances in the ledger. */
export async function benchGrowth(rounds: number, size: number): Promise<Result[]> {
  const folder = await mkdtemp(join(tmpdir(), 'purser-bench-'))
  try {
    const small = await filledStore(join(folder, 'small.db'), 1_000)
    const large = await filledStore(join(folder, 'large.db'), size)
    const measured = new Map<string, Round[]>()
    for (let round = 0; round <= rounds; round++) {
      const baseline = await measure(small)
      const ours = await measure(large)
      if (round === 0) continue
      for (const name of Object.keys(ours) as (keyof typeof ours)[])
        measured.set(name, [...(measured.get(name) ?? []), { ours: ours[name], baseline: baseline[name] }])
    }
    await small.close()
    await large.close()
    const label = `${size.toLocaleString('en-US')} instances against 1,000`
    return [...measured].map(([name, each]) =>
      toResult(`${name}, ${label}`, name === 'memory' ? 'MB' : 'us', each, atMost(1.5)),
    )
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** The ledger's own schema, filled by SQL: a million accepts would take minutes and prove nothing more. */
async function filledStore(file: string, size: number): Promise<Store> {
  await (await openSqliteStore({ file, clock: systemClock })).close()
  const database = (await loadDriver()).open(file)
  const { instance, operation } = newOperationRows('x')
  const { parameters, state, ...doc } = instance
  database.exec('pragma synchronous = off; begin')
  const numbers = `with recursive n (i) as (select 1 union all select i + 1 from n where i < ${size})`
  const [instanceDoc, sealed] = [JSON.stringify(doc), JSON.stringify({ parameters, state })].map(quote)
  const operationDoc = quote(JSON.stringify({ ...operation, input: undefined }))
  database.exec(`${numbers} insert into instance
    (number, id, phase, last_operation_id, created_at, platform, service_id, plan_id, usable, doc, sealed)
    select i, 'filled-' || i, 'creating', '', 0, 'default', 'bench', 'plan-0', 0, ${instanceDoc}, ${sealed} from n`)
  database.exec(`${numbers} insert into operation
    (id, instance_id, instance_number, state, attempt, losses, not_before, fence, unclean, finished_at, accepted_at, action,
      service_key, plan_key, platform_key, doc, sealed)
    select 'operation-' || i, 'filled-' || i, i, 'succeeded', 1, 0, 0, 1, 0, 0, 0, 'provision', 'bench', 'plan-0', 'default',
      ${operationDoc}, '{}' from n`)
  database.exec(
    `${numbers} insert into history (instance_id, instance_number, doc) select 'filled-' || i, i, '{}' from n`,
  )
  database.exec('commit')
  database.close()
  return openSqliteStore({ file, clock: systemClock })
}

async function measure(store: Store) {
  const costs = await measureCosts(store)
  return { ...costs, memory: process.memoryUsage.rss() / 1e6 }
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
