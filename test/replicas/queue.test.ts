import { expect, it } from 'vitest'
import { numbers, putAll, withStatus } from '../engine/bursts.ts'
import { type Process, seconds, takes } from '../engine/world.ts'
import { describeWorlds, type MakeWorld, type ReplicaWorld } from './worlds.ts'

/** Two replicas with a worker each, provisions of 1.2 seconds that may take 6 in all, and each replica has run some. */
async function bootTwo(makeWorld: MakeWorld): Promise<[ReplicaWorld, Process, Process, () => number]> {
  const world = await makeWorld({
    service: {
      actions: { provision: { timeout: '6s' } },
      provision: () => takes(world.clock, 1200),
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
    await world.clock.advance(seconds(6))
    for (const { id, body } of accepted)
      expect(await one.poll(id, body.operation)).toMatchObject({ state: 'succeeded' })
  })

  it('each of them sees what the others have accepted', async () => {
    const [world, one, other, ended] = await bootTwo(makeWorld)
    const accepted = async (replica: Process, ids: readonly string[]) =>
      withStatus(await putAll(world, replica, ids), 202).length
    const first = await accepted(one, numbers(30))
    const before = ended()
    const later = await accepted(other, numbers(30, 100))
    // What has ended meanwhile, while the database was slow, has made room for as many.
    expect(later - (ended() - before)).toBeLessThanOrEqual(first / 2)
  })
})
