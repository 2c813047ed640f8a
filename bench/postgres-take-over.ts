import { once } from 'node:events'
import { openPostgresStore } from '../src/store/postgres/index.ts'
import type { PostgresServer } from '../test/external/postgres.ts'
import { type Child, startChild } from './child.ts'
import { acceptProvision } from './costs.ts'
import { noGoal, type Result, type Round, toResult } from './result.ts'

const leaseMs = 2_000

/** From the SIGKILL of the replica that runs an operation to the first step that another one takes of it. */
export async function benchTakeOver(server: PostgresServer, rounds: number): Promise<Result> {
  const measured: Round[] = []
  for (let round = 0; round < rounds; round++)
    measured.push({ ours: await takeOver(server, `take_over_${round}`), baseline: leaseMs })
  return toResult('PostgreSQL: from SIGKILL to the take-over, against the lease', 'ms', measured, noGoal)
}

async function takeOver({ url }: PostgresServer, schema: string): Promise<number> {
  const options = JSON.stringify({ ledger: { schema }, engine: { lease: leaseMs, callTimeout: 800 } })
  const store = await openPostgresStore({ url, schema })
  const replicas = await Promise.all([0, 1].map(() => startChild('walker.mjs', [url, options])))
  try {
    const first = Promise.race(replicas.map(nextStep))
    await acceptProvision(store, 'instance')
    const holder = await first
    // Some steps later, so that the lease has been renewed.
    for (let step = 0; step < 10; step++) await nextStep(holder)
    const others = replicas.filter(replica => replica !== holder).map(nextStep)
    const killed = performance.now()
    await holder.stop()
    await Promise.race(others)
    return performance.now() - killed
  } finally {
    await Promise.all(
      replicas.map(replica =>
        replica.process.exitCode === null && replica.process.signalCode === null ? replica.stop() : undefined,
      ),
    )
    await store.close()
  }
}

async function nextStep(replica: Child): Promise<Child> {
  await once(replica.process, 'message')
  return replica
}
