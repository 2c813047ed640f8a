/** Processes that die and runtimes that fail, at every call: the bundle runs once, its end is known, nothing is left. */
import { describe, expect, it } from 'vitest'
import { type Runtime, RuntimeUnavailableError } from '../../src/sandbox.ts'
import { type CrashPoint, createCrashableStore } from '../../src/testing/crash-points.ts'
import { asynchronous, idsOf, place, useWorlds, type World } from './world.ts'

const open = useWorlds()

const script = `id=$(sed 's/.*"instance":{"id":"\\([^"]*\\)".*/\\1/' "$BUNDLE_INPUT")
  echo "$1" >> $out/$id; echo '{"key":"value"}' > "$BUNDLE_OUTPUT/state.json"`

type Around = <T>(call: string, run: () => Promise<T>) => Promise<T>

function wrapRuntime(runtime: Runtime, around: Around): Runtime {
  return {
    ...runtime,
    prepare: (program, signal) => around('prepare', () => runtime.prepare(program, signal)),
    start: spec => around('start', () => runtime.start(spec)),
    status: name => around('status', () => runtime.status(name)),
    wait: (name, signal) => around('wait', () => runtime.wait(name, signal)),
    progress: (name, secrets) => around('progress', () => runtime.progress(name, secrets)),
    collect: (name, secrets) => around('collect', () => runtime.collect(name, secrets)),
    remove: name => around('remove', () => runtime.remove(name)),
  }
}

async function expectOneRun(world: World, id: string, action: string): Promise<void> {
  expect(world.lines(id).filter(run => run === action)).toEqual([action])
  const left = await (await world.runtimeOf()).list()
  expect(left.filter(({ labels }) => labels['purser.instance'] === id)).toEqual([])
}

/** Calls that come when they come, and so often as time passes. */
const upkeep = ['claim', 'renew', 'chores', 'takeChore', 'renewChore', 'finishChore', 'dueForObservation', 'purge']

/** Names the points of one life of a process, the same in each life. */
function createCounter(): (point: CrashPoint) => string {
  const counts = new Map<string, number>()
  return ({ call, when }) => {
    const name = `${when} ${call}`
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    return `${name} ${count}`
  }
}

describe('a process that dies', () => {
  it.each(['provision', 'deprovision'] as const)('at any call of a %s', async action => {
    const world = await open({ script, quick: true })
    const front = await world.start({ concurrency: 0 })
    const ids = idsOf(world)

    async function accept(id: string) {
      const provisioned = await front.client.provision(id, { ...ids, ...place }, asynchronous)
      if (action === 'provision') return provisioned
      const early = await world.start()
      await world.ended(provisioned)
      await early.stop()
      return front.client.deprovision(id, ids, asynchronous)
    }

    /** One process that dies at this point, and another one that comes after it. */
    async function liveAndDie(id: string, fatal: string): Promise<readonly string[]> {
      const answer = await accept(id)
      const passed: string[] = []
      const nameOf = createCounter()
      const doomed = createCrashableStore(world.store, point => {
        const name = nameOf(point)
        passed.push(name)
        if (name === fatal) doomed.crash()
      })
      await world.start({ store: doomed.store, wrap: runtime => wrapRuntime(runtime, doomed.around) })
      const ended = world.ended(answer)
      await Promise.race([ended, world.until(() => doomed.isCrashed())])
      doomed.crash()
      const rescue = await world.start()
      expect(await ended, `dead ${fatal}`).toMatchObject({ state: 'succeeded' })
      await expectOneRun(world, id, action)
      await rescue.stop()
      return passed
    }

    const points = (await liveAndDie('whole', '')).filter(name => !upkeep.includes(name.split(' ')[1] ?? ''))
    for (const call of ['prepare', 'start', 'wait', 'collect', 'remove', 'finish'])
      expect(points).toEqual(expect.arrayContaining([`before ${call} 1`, `after ${call} 1`]))
    for (const [index, point] of points.entries()) expect(await liveAndDie(`i${index}`, point)).toContain(point)
  })
})

describe('a runtime that fails', () => {
  const faults: Readonly<Record<string, Around>> = {
    'before the call': async () => {
      throw new RuntimeUnavailableError('no answer')
    },
    'after the call': async (_, run) => {
      await run()
      throw new RuntimeUnavailableError('no answer')
    },
    'by never answering': () => new Promise(() => {}),
  }

  it.each(Object.entries(faults))('%s, at any call', async (_, fault) => {
    const world = await open({ script, quick: true })
    const ids = idsOf(world)
    const failed: string[] = []
    for (let number = 1, more = true; more; number += 1) {
      let calls = 0
      const around: Around = (call, run) => {
        calls += 1
        if (calls !== number) return run()
        failed.push(call)
        return fault(call, run)
      }
      const broker = await world.start({ wrap: runtime => wrapRuntime(runtime, around) })
      const answer = await broker.client.provision(`i${number}`, { ...ids, ...place }, asynchronous)
      expect(await world.ended(answer), `at ${failed.at(-1)}`).toMatchObject({ state: 'succeeded' })
      await expectOneRun(world, `i${number}`, 'provision')
      await broker.stop()
      more = calls >= number
    }
    expect(failed).toEqual(expect.arrayContaining(['prepare', 'start', 'wait', 'collect', 'remove']))
  })
})
