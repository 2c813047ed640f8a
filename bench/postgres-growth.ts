import { openPostgresStore } from '../src/store/postgres/index.ts'
import type { Store } from '../src/store.ts'
import { startPostgres } from '../test/external/postgres.ts'
import { connect } from '../test/external/postgres-connection.ts'
import { acceptProvision, measureCosts } from './costs.ts'
import { fillLedger, levelsOf, measureSizes, type Sizes } from './postgres-fill.ts'
import { atMost, noGoal, type Result, type Round, toResult } from './result.ts'

/** What a call costs with 1,000 and with 1,000,000 instances in the ledger, and what an instance takes on the disk. */
export async function benchPostgresGrowth(rounds: number, size: number): Promise<Result[]> {
  const server = await startPostgres()
  const stores: Store[] = []
  try {
    const admin = await connect(server.url, '-c synchronous_commit=off')
    const open = async (schema: string) => {
      const store = await openPostgresStore({ url: server.url, schema })
      stores.push(store)
      await makeTemplate(store)
      return store
    }
    const small = await open('small')
    await fillLedger(admin, 'small', 1_000)
    const large = await open('large')
    const sizes: Sizes[] = []
    for (let filled = 1_000; filled <= size; filled *= 10) {
      await fillLedger(admin, 'large', filled)
      sizes.push(await measureSizes(admin, 'large', filled))
    }
    await admin.query({ text: 'vacuum analyze' })
    await admin.end()
    return [...(await compareCosts(small, large, rounds, size)), ...sizeResults(sizes)]
  } finally {
    await Promise.all(stores.map(store => store.close()))
    await server.stop()
  }
}

async function compareCosts(small: Store, large: Store, rounds: number, size: number): Promise<Result[]> {
  const measured = new Map<string, Round[]>()
  for (let round = 0; round <= rounds; round++) {
    const baseline = await measureCosts(small, 32)
    const ours = await measureCosts(large, 32)
    if (round === 0) continue
    for (const name of Object.keys(ours) as (keyof typeof ours)[])
      measured.set(name, [...(measured.get(name) ?? []), { ours: ours[name], baseline: baseline[name] }])
  }
  const label = `${size.toLocaleString('en-US')} instances against 1,000`
  return [...measured].map(([name, each]) => toResult(`PostgreSQL: ${name}, ${label}`, 'us', each, atMost(1.5)))
}

/** Sizes are measured at each power of ten. What is said of ten million instances is calculated from the largest. */
function sizeResults(sizes: readonly Sizes[]): Result[] {
  const [smallest] = sizes
  const largest = sizes.at(-1)
  if (smallest === undefined || largest === undefined) return []
  const line = (name: string, unit: string, ours: number, baseline: number) =>
    toResult(`PostgreSQL: ${name}`, unit, [{ ours, baseline }], noGoal)
  const between = `at ${largest.instances.toLocaleString('en-US')} instances, against ${smallest.instances.toLocaleString('en-US')}`
  const relations = Object.entries(largest.bytes).map(([name, bytes]) =>
    line(`${name}, bytes for each instance ${between}`, 'B', bytes, smallest.bytes[name] ?? Number.NaN),
  )
  const calculated = 10_000_000
  const pages = ((largest.bytes.operation_pkey ?? 0) * calculated) / 8192
  const levels = [...sizes, { instances: calculated, levels: levelsOf(pages) }].map(at =>
    line(
      `levels of the index of operations, at ${at.instances.toLocaleString('en-US')}`,
      '',
      at.levels,
      smallest.levels,
    ),
  )
  const total = (at: Sizes) => Object.values(at.bytes).reduce((sum, bytes) => sum + bytes, 0)
  return [
    ...relations,
    line(`everything, bytes for each instance ${between}`, 'B', total(largest), total(smallest)),
    ...levels,
    line(
      `10,000,000 instances by calculation, against ${largest.instances.toLocaleString('en-US')} measured`,
      'GB',
      (total(largest) * calculated) / 1e9,
      (total(largest) * largest.instances) / 1e9,
    ),
  ]
}

/** One instance that has been through it all: three steps, and its history. The ledger is filled with its like. */
async function makeTemplate(store: Store): Promise<void> {
  await acceptProvision(store, 'template')
  const { claims } = await store.claim('bench', 1, 30_000)
  for (const { operation } of claims) {
    const lease = { operationId: operation.id, fence: operation.fence }
    for (const name of ['create the database', 'create the role', 'wait until it answers'])
      await store.checkpoint(lease, { step: { name, state: 'done', attempts: 1, startedAt: 0, output: { id: name } } })
    await store.finish(lease, ({ instance, finishing, now }) => ({
      ...(instance === undefined ? {} : { instance: { ...instance, phase: 'ready', created: true, usable: true } }),
      operations: [{ ...finishing, state: 'succeeded', finishedAt: now }],
      history: [{ at: now, type: 'succeeded', instanceId: finishing.instanceId, operationId: finishing.id }],
    }))
  }
}
