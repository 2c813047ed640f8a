import { describe, expect, it } from 'vitest'
import { type DatabaseKind, whyNot } from './databases.ts'
import { runStorm } from './storm.ts'

const long = process.env.PURSER_TEST_LONG === '1'
const seeds = process.env.PURSER_STORM_SEED?.split(',') ?? newSeeds(long ? 5 : 1)
const durationMs = Number(process.env.PURSER_STORM_SECONDS ?? (long ? 120 : 45)) * 1_000

const needed = 'accepted,operations,superseded,claims,refused writes,late calls,sweeps,database crashes'.split(',')
const kinds: readonly DatabaseKind[] = ['postgres', 'postgres that fails over', 'mongodb']
const missing = new Map(await Promise.all(kinds.map(async kind => [kind, await whyNot(kind)] as const)))

describe.for(kinds)('a storm over three replicas on %s', kind => {
  const reason = missing.get(kind)
  if (reason !== undefined) {
    it.skip(`no ${kind}: ${reason}`)
    return
  }
  it.for(seeds)('leaves one result of everything that was accepted, and nothing behind: seed %s', async seed => {
    console.log(`storm on ${kind}: PURSER_STORM_SEED=${seed}`)
    const { problems, counts, folder } = await runStorm({ kind, seed, durationMs })
    console.log(`storm on ${kind}: ${JSON.stringify(counts)}`)
    expect(problems, `PURSER_STORM_SEED=${seed}, evidence in ${folder}`).toEqual([])
    for (const what of needed) expect(counts[what], `${what}: a storm without any shows nothing`).toBeGreaterThan(0)
  })
})

function newSeeds(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${Date.now().toString(36)}-${index}`)
}
