import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { PostgresServer } from '../test/external/postgres.ts'
import { type Child, startChild, warmUp } from './child.ts'
import { cores } from './pin.ts'
import { atLeast, notMeasured, type Result, type Round, toResult } from './result.ts'

/** How many operations are in flight, and how many times as many should end as of the other engine. */
const goals = [
  [16, 4],
  [64, 5],
] as const
const ms = 2_000
const connections = 10

/** Operations of three steps, accepted and completed in one process, against DBOS, where that was installed somewhere. */
export async function benchDurable({ url }: PostgresServer, rounds: number): Promise<Result[]> {
  const name = (inFlight: number) => `PostgreSQL: three-step operations, ${inFlight} in flight, against DBOS`
  const folder = process.env.BENCH_DBOS
  if (folder === undefined || !existsSync(join(folder, 'node_modules/@dbos-inc/dbos-sdk')))
    return goals.map(([inFlight]) =>
      notMeasured(name(inFlight), 'BENCH_DBOS names no folder in which "npm install @dbos-inc/dbos-sdk" was run'),
    )
  const settings = { ledger: { schema: 'durable', poolSize: connections }, engine: { concurrency: 64 } }
  const other = new URL('/dbos', url).href
  const ours = await startChild('in-flight.mjs', [url, JSON.stringify(settings)], { cores: cores.all })
  const theirs = await startChild('dbos.mjs', [other, folder, String(connections)], { cores: cores.all })
  const measured = goals.map((): Round[] => [])
  try {
    for (const child of [ours, theirs]) await perSecond(child, 64, warmUp)
    for (let round = 0; round <= rounds; round++)
      for (const [index, [inFlight]] of goals.entries()) {
        const baseline = await perSecond(theirs, inFlight, ms)
        const figure = await perSecond(ours, inFlight, ms)
        if (round > 0) measured[index]?.push({ ours: figure, baseline })
      }
  } finally {
    await Promise.all([ours.stop(), theirs.stop()])
  }
  return goals.map(([inFlight, goal], index) => toResult(name(inFlight), '/s', measured[index] ?? [], atLeast(goal)))
}

async function perSecond(child: Child, inFlight: number, ms: number): Promise<number> {
  return ((await child.ask({ inFlight, ms })) as { readonly perSecond: number }).perSecond
}
