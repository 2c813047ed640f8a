import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createBareTransactions } from './bare-transactions.ts'
import { type Child, startChild } from './child.ts'
import { drive } from './load.ts'
import { provisionRequest } from './requests.ts'
import { atLeast, type Result, type Round, toResult } from './result.ts'

/** Asynchronous provisions on SQLite, accepted and completed, against bare durable transactions one by one. */
export async function benchAccept(rounds: number): Promise<Result[]> {
  const folder = await mkdtemp(join(tmpdir(), 'purser-bench-'))
  const bare = await createBareTransactions(folder)
  const broker = await startChild('broker.mjs', [`sqlite:${join(folder, 'ledger.db')}`, '3'])
  let total = 0
  const provisions = async (limit: { readonly ms?: number; readonly count?: number }) => {
    const first = total
    const load = await drive({
      port: broker.port,
      connections: 64,
      status: 202,
      request: n => provisionRequest(`instance-${first + n}`),
      ...limit,
    })
    total += load.answers
    return load
  }
  try {
    const accepted: Round[] = []
    const completed: Round[] = []
    for (let round = 0; round <= rounds; round++) {
      const before = bare.run(1_000)
      const load = await provisions({ ms: 2_000 })
      await untilFinished(broker, total)
      const between = bare.run(1_000)
      const started = performance.now()
      await provisions({ count: 3_000 })
      await untilFinished(broker, total)
      const perSecond = (3_000 * 1000) / (performance.now() - started)
      const after = bare.run(1_000)
      if (round === 0) continue
      accepted.push({ ours: load.perSecond, baseline: (before + between) / 2 })
      completed.push({ ours: perSecond, baseline: (between + after) / 2 })
    }
    return [
      toResult('provisions accepted, 64 connections, SQLite FULL', '/s', accepted, atLeast(1)),
      toResult('three-step operations accepted and completed', '/s', completed, atLeast(0.3)),
    ]
  } finally {
    bare.close()
    await broker.stop()
    await rm(folder, { recursive: true })
  }
}

async function untilFinished(broker: Child, count: number): Promise<void> {
  while (Number(await broker.ask('finished?')) < count) await new Promise(resolve => setTimeout(resolve, 5))
}
