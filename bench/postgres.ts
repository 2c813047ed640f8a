import { openPostgresStore } from '../src/store/postgres/index.ts'
import type { Store } from '../src/store.ts'
import { type PostgresServer, startPostgres } from '../test/external/postgres.ts'
import { type Child, startChild, untilFinished, warmUp } from './child.ts'
import { acceptMany, acceptProvision } from './costs.ts'
import { drive } from './load.ts'
import { cores } from './pin.ts'
import { type BareTransactions, createBareTransactions } from './postgres-bare.ts'
import { benchDurable } from './postgres-durable.ts'
import { benchReplicas } from './postgres-replicas.ts'
import { benchTakeOver } from './postgres-take-over.ts'
import { provisionRequest } from './requests.ts'
import { atLeast, noGoal, type Result, type Round, toResult } from './result.ts'

/** The same for the broker and for the baseline. */
const connections = 10
const callers = 32
/** Operations at a time in a worker: what they wait for is a backend most of the time, so brokers run many. */
const running = 64
const completions = 2_000

/** A real PostgreSQL, synced before every answer: throughput against bare transactions, replicas, take-over. */
export async function benchPostgres(rounds: number): Promise<Result[]> {
  const server = await startPostgres()
  try {
    const throughput = await benchThroughput(server, rounds)
    const durable = await benchDurable(server, rounds)
    const replicas = await benchReplicas(server, rounds)
    return [...throughput, ...durable, ...replicas, await benchTakeOver(server, rounds)]
  } finally {
    await server.stop()
  }
}

interface Parts {
  readonly bare: BareTransactions
  readonly store: Store
  readonly worker: Child
  readonly broker: Child
}

async function benchThroughput(server: PostgresServer, rounds: number): Promise<Result[]> {
  const { url } = server
  const options = (schema: string) =>
    JSON.stringify({ ledger: { schema, poolSize: connections }, engine: { concurrency: running } })
  const parts: Parts = {
    bare: await createBareTransactions(url, connections, callers),
    store: await openPostgresStore({ url, schema: 'accepting', poolSize: connections }),
    broker: await startChild('broker.mjs', [url, '0', options('over_http')], { cores: cores.all }),
    worker: await startChild('broker.mjs', [url, '3', options('completing')], { cores: cores.all }),
  }
  const completing = await openPostgresStore({ url, schema: 'completing', poolSize: connections })
  try {
    return await measure(parts, completing, rounds)
  } finally {
    await Promise.all([parts.worker.stop(), parts.broker.stop()])
    await Promise.all([parts.bare.close(), parts.store.close(), completing.close()])
  }
}

async function measure({ bare, store, worker, broker }: Parts, completing: Store, rounds: number): Promise<Result[]> {
  const measured = { accepted: [], single: [], http: [], working: [], completed: [] } as Record<string, Round[]>
  let total = 0
  let overHttp = 0
  let completed = 0
  const overHttpFor = async (ms: number) => {
    const load = await drive({
      port: broker.port,
      connections: callers,
      status: 202,
      ms,
      sleeps: true,
      request: n => provisionRequest(`instance-${overHttp + n}`),
    })
    overHttp += load.answers
    await untilFinished(broker, overHttp)
    return load.perSecond
  }
  await overHttpFor(warmUp)
  for (let round = 0; round <= rounds; round++) {
    const before = await bare.run(1_000)
    const statement = await bare.runAsOneStatement(1_000)
    const accepted = await timed(1_000, () => acceptProvision(store, `instance-${total++}`))
    const between = await bare.run(1_000)
    const http = await overHttpFor(1_000)
    const later = await bare.run(1_000)
    const started = performance.now()
    await acceptMany(completing, completed, completions, callers)
    completed += completions
    await untilFinished(worker, completed)
    const perSecond = (completions * 1000) / (performance.now() - started)
    const after = await bare.run(1_000)
    if (round === 0) continue
    measured.accepted?.push({ ours: accepted, baseline: (before + between) / 2 })
    measured.single?.push({ ours: accepted, baseline: statement })
    measured.http?.push({ ours: http, baseline: (between + later) / 2 })
    measured.working?.push({ ours: http, baseline: accepted })
    measured.completed?.push({ ours: perSecond, baseline: (later + after) / 2 })
  }
  const { accepted = [], single = [], http = [], working = [], completed: done = [] } = measured
  const bareTransaction = 'against BEGIN, two INSERTs, COMMIT'
  return [
    toResult(`PostgreSQL: provisions accepted, ${bareTransaction}`, '/s', accepted, atLeast(0.6)),
    toResult('PostgreSQL: provisions accepted, against both rows in one statement', '/s', single, noGoal),
    toResult(`PostgreSQL: provisions accepted over HTTP, ${bareTransaction}`, '/s', http, noGoal),
    toResult(
      'PostgreSQL: provisions accepted over HTTP, the worker at work, against the store alone',
      '/s',
      working,
      atLeast(0.5),
    ),
    toResult(`PostgreSQL: three-step operations completed, ${bareTransaction}`, '/s', done, atLeast(0.2)),
  ]
}

async function timed(ms: number, call: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  let done = 0
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() - started < ms) {
        await call()
        done++
      }
    }),
  )
  return (done * 1000) / (performance.now() - started)
}
