import { describe, expect, it } from 'vitest'
import { until } from './cluster.ts'
import { type Failover, whyNot } from './databases.ts'
import type { Actor } from './platforms.ts'
import { monotonicNow } from './record.ts'
import { runThrough, type Struck } from './storm.ts'
import type { World } from './world.ts'

const reason = await whyNot('mongodb that fails over')
const seed = process.env.PURSER_STORM_SEED ?? Date.now().toString(36)

describe('a replica set of three whose primary is lost', () => {
  it.skipIf(reason !== undefined)(
    `killed, told to step down, and silent: replicas go on by themselves, and nothing is lost (${reason ?? seed})`,
    async () => {
      const seconds: Record<string, number> = {}
      const { problems, counts, folder } = await runThrough(
        { kind: 'mongodb that fails over', seed },
        async (world, actors) => {
          const struck: Struck[] = []
          for (const how of ['kill', 'step down', 'freeze'] as const) {
            seconds[how] = await failOver(world, actors, how)
            struck.push({ fault: how })
          }
          return struck
        },
      )
      console.log(`failover: PURSER_STORM_SEED=${seed} ${JSON.stringify({ 'seconds without': seconds, ...counts })}`)
      expect(problems, `PURSER_STORM_SEED=${seed}, evidence in ${folder}`).toEqual([])
      for (const what of ['accepted', 'operations', 'superseded', 'claims', 'sweeps'])
        expect(counts[what], `${what}: a storm in which there are none shows nothing`).toBeGreaterThan(0)
    },
  )
})

/** A replica of the broker dies with the primary. Answers how long nothing was accepted, in seconds. */
async function failOver({ cluster, database }: World, actors: readonly Actor[], how: Failover): Promise<number> {
  const acceptedSince = (time: number) =>
    actors.flatMap(({ events }) =>
      events.flatMap(event => (event.type === 'asked' && event.status === 202 && event.end > time ? [event.end] : [])),
    )
  const begun = monotonicNow()
  cluster.replicas[0]?.signal('SIGKILL')
  await database.failOver?.(how)
  const done = monotonicNow()
  await until(`20 requests are accepted after ${how}`, async () => acceptedSince(done).length >= 20)
  const times = [begun, ...acceptedSince(begun).sort((one, other) => one - other)]
  return Math.round(Math.max(...times.slice(1).map((time, index) => time - (times[index] ?? 0))) / 1000)
}
