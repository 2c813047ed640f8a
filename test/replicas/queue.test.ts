import { expect, it } from 'vitest'
import { numbers, putAll, withStatus } from '../engine/bursts.ts'
import { type Process, seconds, takes } from '../engine/world.ts'
import { describeWorlds, type MakeWorld, type ReplicaWorld } from './worlds.ts'

/** Two replicas with a worker each, provisions of 1.2 seconds that may take 6 in all, and each replica has run some. */
async function bootTwo(makeWorld: MakeWorld): Promise<[ReplicaWorld, Process, Process]> {
  const world = await makeWorld({
    service: {
      actions: { provision: { timeout: '6s' } },
      provision: () => takes(world.clock, 1200),
    },
    settings: { engine: { concurrency: 1 } },
  })
  const [one, other] = [await world.bootReplica(), await world.bootReplica()]
  for (const id of ['warm1', 'warm2', 'warm3', 'warm4']) await one.provision(id)
  await world.clock.advance(seconds(5))
  return [world, one, other]
}

describeWorlds('replicas: new work that could not begin in time', makeWorld => {
  it('the workers of all of them count, and all that was accepted runs and ends', async () => {
    const [world, one] = await bootTwo(makeWorld)
    const answers = await putAll(world, one, numbers(30))
    const accepted = withStatus(answers, 202)
    expect(accepted.length).toBeGreaterThanOrEqual(8)
    expect(withStatus(answers, 503).length).toBeGreaterThan(0)
    await world.clock.advance(seconds(6))
    for (const { id, body } of accepted)
      expect(await one.poll(id, body.operation)).toMatchObject({ state: 'succeeded' })
  })

  it('each of them sees what the others have accepted', async () => {
    const [world, one, other] = await bootTwo(makeWorld)
    const first = await putAll(world, one, numbers(30))
    const answers = [...first, ...(await putAll(world, other, numbers(30, 100)))]
    await world.clock.advance(seconds(7))
    for (const { id, body } of withStatus(answers, 202))
      expect(await other.poll(id, body.operation)).toMatchObject({ state: 'succeeded' })
  })
})
