import { openPostgresStore } from '../src/store/postgres/index.ts'
import type { PostgresServer } from '../test/external/postgres.ts'
import { startChild } from './child.ts'
import { acceptMany } from './costs.ts'
import { cores } from './pin.ts'
import { noGoal, type Result, type Round, toResult } from './result.ts'

const queued = 3_000
/** Processes do not begin at the same moment: the first and the last are not counted. */
const margin = 300

/** Three-step operations completed by one, two and three replicas, each a process, from a queue that is full before. */
export async function benchReplicas(server: PostgresServer, rounds: number): Promise<Result[]> {
  const measured = new Map<number, Round[]>([2, 3].map(count => [count, []]))
  for (let round = 0; round <= rounds; round++) {
    const baseline = await complete(server, `replicas_${round}_1`, 1)
    for (const [count, each] of measured) {
      const ours = await complete(server, `replicas_${round}_${count}`, count)
      if (round > 0) each.push({ ours, baseline })
    }
  }
  return [...measured].map(([count, each]) =>
    toResult(`PostgreSQL: operations completed by ${count} replicas, against one`, '/s', each, noGoal),
  )
}

async function complete({ url }: PostgresServer, schema: string, count: number): Promise<number> {
  const store = await openPostgresStore({ url, schema })
  await acceptMany(store, 0, queued, 32)
  const options = JSON.stringify({ ledger: { schema, poolSize: 10 } })
  const start = () => startChild('broker.mjs', [url, '3', options], { cores: cores.all })
  const replicas = await Promise.all(Array.from({ length: count }, start))
  const finished = async (wanted: number) => {
    while (true) {
      const counts = await Promise.all(replicas.map(replica => replica.ask('finished?')))
      const sum = counts.reduce<number>((total, one) => total + Number(one), 0)
      if (sum >= wanted) return { sum, at: performance.now() }
      await new Promise(resolve => setTimeout(resolve, 10))
    }
  }
  try {
    const first = await finished(margin)
    const last = await finished(queued - margin)
    return ((last.sum - first.sum) * 1000) / (last.at - first.at)
  } finally {
    await Promise.all(replicas.map(replica => replica.stop()))
    await store.close()
  }
}
