import { expect, it } from 'vitest'
import { type Answered, numbers, putAll, withStatus } from '../engine/bursts.ts'
import { type Process, seconds, takes } from '../engine/world.ts'
import { describeWorlds, type MakeWorld, type ReplicaWorld } from './worlds.ts'

/**
 * Two replicas with a worker each, provisions of 2.43 seconds that may take 12 in all, and each replica has run some. All else
 * happens at tenths of a second: nobody looks at the ledger in the moment between an end and its last write.
 */
async function bootTwo(makeWorld: MakeWorld): Promise<[ReplicaWorld, Process, Process, () => number]> {
  const world = await makeWorld({
    service: {
      actions: { provision: { timeout: '12s' } },
      provision: () => takes(world.clock, 2430),
    },
    // Wake-ups of a database take real time, in which this clock may move on: nobody waits for them.
    settings: { engine: { concurrency: 1, pollInterval: '100ms' } },
  })
  const ran = new Set<string>()
  let ended = 0
  const boot = (name: string) =>
    world.bootReplica({
      wrap: store => ({
        ...store,
        finish(...call) {
          ran.add(name)
          ended += 1
          return store.finish(...call)
        },
      }),
    })
  const [one, other] = [await boot('one'), await boot('other')]
  // On a slow database one of them may be the faster one each time.
  for (let round = 0; ran.size < 2; round += 1) {
    for (const replica of [one, other]) await replica.provision(`warm-${round}-${replica === one}`)
    await world.clock.advance(seconds(5))
  }
  return [world, one, other, () => ended]
}

describeWorlds('replicas: new work that could not begin in time', makeWorld => {
  it('the workers of all of them count, and all that was accepted runs and ends', async () => {
    const [world, one] = await bootTwo(makeWorld)
    const answers = await putAll(world, one, numbers(30))
    const accepted = withStatus(answers, 202)
    // One worker alone could begin with four in time, two with eight; how soon each is seen depends on the database.
    expect(accepted.length).toBeGreaterThanOrEqual(6)
    expect(withStatus(answers, 503).length).toBeGreaterThan(0)
    await world.clock.advance(seconds(12))
    for (const { id, body } of accepted)
      expect(await one.poll(id, body.operation)).toMatchObject({ state: 'succeeded' })
  })

  it('each of them sees what the others have accepted', async () => {
    const [world, one, other, ended] = await bootTwo(makeWorld)
    const endedBefore = ended()
    const accepted: Answered[] = []
    for (const [replica, from] of [
      [one, 1],
      [other, 101],
      [one, 201],
    ] as const) {
      accepted.push(...withStatus(await putAll(world, replica, numbers(30, from)), 202))
      // A worker ends five of them within 12 seconds. What has ended meanwhile has made room.
      expect(accepted.length - (ended() - endedBefore)).toBeLessThanOrEqual(2 * 5)
    }
    await world.clock.advance(seconds(12))
    for (const { id, body } of accepted)
      expect(await one.poll(id, body.operation)).toMatchObject({ state: 'succeeded' })
  })
})
