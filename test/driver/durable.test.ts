/** What others do to an operation while its bundle runs, and what stands in the way of running it. */
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { Observer } from '../../src/observer.ts'
import { type Runtime, RuntimeUnavailableError } from '../../src/sandbox.ts'
import type { Store } from '../../src/store.ts'
import { createCrashableStore } from '../../src/testing/crash-points.ts'
import { asynchronous, idsOf, patient, place, useWorlds, type World } from './world.ts'

const open = useWorlds()

/** A provision that waits for `$out/go`, or for ever. */
const waiting = `echo "$1" >> $out/runs
  if [ "$1" = provision ]; then
    echo started > "$BUNDLE_OUTPUT/progress"; while [ ! -e $out/go ]; do sleep 0.02; done
  fi; exit 0`

async function names(world: World, host?: string): Promise<readonly string[]> {
  return (await (await world.runtimeOf(host)).list()).map(({ name }) => name)
}

describe('a deletion', () => {
  it('during a provision ends its sandbox before its own begins', async () => {
    const world = await open({ script: waiting })
    const { client } = await world.start()
    const ids = idsOf(world)
    const provisioned = await client.provision('i', { ...ids, ...place }, asynchronous)
    await world.until(async () => (await client.lastOperation('i')).body.description === 'started')
    const deleted = await client.deprovision('i', ids, asynchronous)
    expect(await world.ended(deleted)).toMatchObject({ state: 'succeeded' })
    expect(await world.ended(provisioned)).toMatchObject({ state: 'superseded' })
    expect(world.lines('runs')).toEqual(['provision', 'deprovision'])
    expect(await names(world)).toEqual([])
    // Whoever was held up in the middle of the start comes too late.
    const runtime = await world.runtimeOf()
    const program = { kind: 'folder', folder: '/tmp' } as const
    const inputs = { action: 'provision', input: {}, extraVars: {}, state: {}, helpers: {}, env: {} }
    const late = { name: `o-${provisioned.body.operation}-1`, labels: {}, program, inputs, limits: { time: 1000 } }
    await expect(runtime.start({ ...late, network: 'allowed' })).rejects.toThrow()
    expect(world.lines('runs')).toHaveLength(2)
  })

  it('clears what an operation left that ran out of time', async () => {
    const world = await open({ script: waiting, settings: { engine: { timeouts: { ...patient, provision: 60_000 } } } })
    const { client } = await world.start()
    const ids = idsOf(world)
    const provisioned = await client.provision('i', { ...ids, ...place }, asynchronous)
    expect(await world.ended(provisioned)).toMatchObject({
      state: 'failed',
      description: 'The provision did not end within 1 minute. Last: started.',
    })
    expect(await names(world)).toEqual([`o-${provisioned.body.operation}-1`])
    expect(await world.ended(await client.deprovision('i', ids, asynchronous))).toMatchObject({ state: 'succeeded' })
    expect(await names(world)).toEqual([])
  })
})

describe('a bind', () => {
  it('does not run beside an update that ran out of time', async () => {
    const world = await open({
      settings: { engine: { timeouts: { ...patient, update: 60_000 } } },
      script: `echo "$1" >> $out/runs
        if [ "$1" = update ]; then while :; do sleep 0.02; done; fi
        echo '{}' > "$BUNDLE_OUTPUT/credentials.json"`,
    })
    const { client } = await world.start()
    const ids = idsOf(world)
    await world.ended(await client.provision('i', { ...ids, ...place }, asynchronous))
    const update = { service_id: ids.service_id, parameters: { size: 9 } }
    expect(await world.ended(await client.update('i', update, asynchronous))).toMatchObject({ state: 'failed' })
    expect(await names(world)).toHaveLength(1)
    expect(await world.ended(await client.bind('i', 'b', ids, asynchronous))).toMatchObject({ state: 'succeeded' })
    expect(await names(world)).toEqual([])
  })
})

describe('a sandbox that failed', () => {
  it('stays where that is asked for, until the next action', async () => {
    const world = await open({
      script: 'echo "$1" >> $out/runs; [ "$1" = deprovision ]',
      parts: { keepOnError: true },
    })
    const { client } = await world.start()
    const ids = idsOf(world)
    const provision = () => client.provision('i', { ...ids, ...place }, asynchronous)
    const first = await provision()
    expect(await world.ended(first)).toMatchObject({ state: 'failed' })
    expect(await names(world)).toEqual([`o-${first.body.operation}-1`])
    const second = await provision()
    expect(await world.ended(second)).toMatchObject({ state: 'failed' })
    expect(await names(world)).toEqual([`o-${second.body.operation}-1`])
    expect(await world.ended(await client.deprovision('i', ids, asynchronous))).toMatchObject({ state: 'succeeded' })
    expect(await names(world)).toEqual([])
  })
})

describe('a runtime', () => {
  it('that does not answer is asked again, and nothing is run twice', async () => {
    const world = await open({ script: waiting })
    let silent = true
    const mute = async (): Promise<never> => {
      throw new RuntimeUnavailableError('no answer')
    }
    const { client } = await world.start({
      wrap: (runtime): Runtime => ({
        ...runtime,
        wait: (name, signal) => (silent ? mute() : runtime.wait(name, signal)),
        collect: (name, secrets) => (silent ? mute() : runtime.collect(name, secrets)),
      }),
    })
    const answer = await client.provision('i', { ...idsOf(world), ...place }, asynchronous)
    await world.until(async () => (await client.lastOperation('i')).body.description?.includes('does not answer'))
    world.touch('go')
    const long = world.clock.now() + 120_000
    await world.until(() => world.clock.now() > long)
    expect((await client.lastOperation('i')).body.state).toBe('in progress')
    silent = false
    expect(await world.ended(answer)).toMatchObject({ state: 'succeeded' })
    expect(world.lines('runs')).toEqual(['provision'])
  })

  it('that is back when it is too late to start gets a new sandbox, whose end is known in time', async () => {
    const world = await open({ script: 'echo "$1" >> $out/runs' })
    let silent = true
    let asked = false
    const { client } = await world.start({
      wrap: (runtime): Runtime => ({
        ...runtime,
        start: async spec => {
          asked = true
          if (silent) throw new RuntimeUnavailableError('no answer')
          return runtime.start(spec)
        },
      }),
    })
    const answer = await client.provision('i', { ...idsOf(world), ...place }, asynchronous)
    await world.until(() => asked)
    await world.clock.advance(6 * 60_000)
    silent = false
    const operation = await world.ended(answer)
    expect(operation).toMatchObject({ state: 'succeeded' })
    expect(world.lines('runs')).toEqual(['provision'])
    expect((await world.store.steps(operation.id)).map(({ name }) => name)).toContain('start 2')
    expect(await names(world)).toEqual([])
  })

  it.each([
    ['when it is to be fetched', (runtime: Runtime) => runtime],
    ['when it is to be started', (runtime: Runtime): Runtime => ({ ...runtime, prepare: async () => {} })],
  ])('that refuses a bundle %s fails the operation with its reason, and leaves nothing', async (_, wrap) => {
    const reasons: string[] = []
    const observer: Observer = { 'operation.failed': ({ error }) => reasons.push(inspect(error)) }
    const world = await open({ script: 'exit 0', quick: true, observer })
    const { client } = await world.start({
      wrap,
      parts: { programFor: async () => ({ kind: 'folder', folder: '/nowhere' }) },
    })
    const answer = await client.provision('i', { ...idsOf(world), ...place }, asynchronous)
    const operation = await world.ended(answer)
    expect(operation).toMatchObject({ state: 'failed' })
    expect(operation.description).toBe(
      "The bundle cannot be run: the bundle's folder cannot be found; correct the registry's path.",
    )
    // The log says where.
    expect(reasons.join()).toContain('/nowhere')
    expect((await world.store.instance('i'))?.state.sandbox ?? null).toBeNull()
    expect(await names(world)).toEqual([])
  })
})

describe('two machines with a runtime that both reach', () => {
  /** Written by somebody else: its sandboxes are in one place, whichever machine asks. */
  const shared = async (world: World): Promise<Runtime> => ({
    ...(await world.runtimeOf('cluster')),
    type: 'cluster',
    reach: 'anywhere',
  })

  it('one of which is gone: the other goes on with its sandbox', async () => {
    const world = await open({ script: waiting })
    const parts = { runtimes: [await shared(world)] }
    const doomed = createCrashableStore(world.store)
    const front = await world.start({ concurrency: 0 })
    await world.start({ host: 'a', store: doomed.store, parts })
    const provisioned = await front.client.provision('i', { ...idsOf(world), ...place }, asynchronous)
    await world.until(() => world.lines('runs').length === 1)
    doomed.crash()
    await world.start({ host: 'b', parts })
    world.touch('go')
    expect(await world.ended(provisioned)).toMatchObject({ state: 'succeeded' })
    expect(world.lines('runs')).toEqual(['provision'])
    expect(await names(world, 'cluster')).toEqual([])
  })

  it('of which one started what a deletion has to end: the other ends it', async () => {
    const world = await open({ script: waiting })
    const parts = { runtimes: [await shared(world)] }
    const doomed = createCrashableStore(world.store)
    const front = await world.start({ concurrency: 0 })
    await world.start({ host: 'a', store: doomed.store, parts })
    const ids = idsOf(world)
    await front.client.provision('i', { ...ids, ...place }, asynchronous)
    await world.until(() => world.lines('runs').length === 1)
    doomed.crash()
    await world.start({ host: 'b', parts })
    expect(await world.ended(await front.client.deprovision('i', ids, asynchronous))).toMatchObject({
      state: 'succeeded',
    })
    expect(world.lines('runs')).toEqual(['provision', 'deprovision'])
    expect(await names(world, 'cluster')).toEqual([])
  })
})

describe('two machines', () => {
  it('never run an operation twice: the one that has the sandbox goes on with it', async () => {
    const world = await open({ script: waiting })
    const { client } = await world.start({ host: 'a' })
    await world.start({ host: 'b' })
    const ids = idsOf(world)
    const answers = []
    for (let i = 0; i < 4; i++) answers.push(await client.provision(`i${i}`, { ...ids, ...place }, asynchronous))
    await world.until(() => world.lines('runs').length === 4)
    const parked = world.clock.now() + 60_000
    await world.until(() => world.clock.now() > parked)
    world.touch('go')
    for (const answer of answers) expect(await world.ended(answer)).toMatchObject({ state: 'succeeded' })
    expect(world.lines('runs')).toEqual(Array(4).fill('provision'))
    expect([...(await names(world, 'a')), ...(await names(world, 'b'))]).toEqual([])
  })

  it('of which one has the sandbox that a deletion has to end: it ends there, and the deletion runs once', async () => {
    const world = await open({ script: waiting })
    const front = await world.start({ concurrency: 0 })
    await world.start({ host: 'a' })
    const ids = idsOf(world)
    await front.client.provision('i', { ...ids, ...place }, asynchronous)
    await world.until(() => world.lines('runs').length === 1)
    await world.start({ host: 'b' })
    expect(await world.ended(await front.client.deprovision('i', ids, asynchronous))).toMatchObject({
      state: 'succeeded',
    })
    expect(world.lines('runs')).toEqual(['provision', 'deprovision'])
    expect([...(await names(world, 'a')), ...(await names(world, 'b'))]).toEqual([])
  })

  it('one of which is gone: the other waits until the sandbox must have ended, and says that it does not know how', async () => {
    const reasons: string[] = []
    const observer: Observer = { 'operation.failed': ({ error }) => reasons.push(inspect(error)) }
    const world = await open({ script: waiting, parts: { limits: { time: 600_000 } }, observer })
    const doomed = createCrashableStore(world.store)
    const front = await world.start({ concurrency: 0 })
    await world.start({ host: 'machine-a', store: doomed.store })
    const ids = idsOf(world)
    const provisioned = await front.client.provision('i', { ...ids, ...place }, asynchronous)
    await world.until(() => world.lines('runs').length === 1)
    doomed.crash()
    await world.start({ host: 'b' })
    const description = async () => (await front.client.lastOperation('i')).body.description
    await world.until(async () => (await description()) === 'waiting for the machine that runs the bundle')
    await world.clock.advance(600_000)
    expect((await front.client.lastOperation('i')).body.state).toBe('in progress')
    await world.clock.advance(600_000)
    expect(await world.ended(provisioned)).toMatchObject({
      state: 'failed',
      description:
        'How the provision ended is not known: nothing was heard from the machine that ran it, and its time is over.',
    })
    expect(reasons.join()).toContain('it ran on machine-a')
    // Its time is over: whoever comes next need not wait.
    expect(await world.ended(await front.client.deprovision('i', ids, asynchronous))).toMatchObject({
      state: 'succeeded',
    })
    expect(world.lines('runs')).toEqual(['provision', 'deprovision'])
  })

  it('one of which is gone after a bundle has failed on it: whoever comes next need not wait', async () => {
    const world = await open({
      script: 'echo "$1" >> $out/runs; [ "$1" = deprovision ]',
      parts: { limits: { time: 600_000 } },
    })
    const doomed = createCrashableStore(world.store)
    const front = await world.start({ concurrency: 0 })
    await world.start({ host: 'a', store: doomed.store })
    const ids = idsOf(world)
    const failed = await front.client.provision('i', { ...ids, ...place }, asynchronous)
    expect(await world.ended(failed)).toMatchObject({ state: 'failed' })
    doomed.crash()
    await world.start({ host: 'b' })
    const asked = world.clock.now()
    const deleted = await front.client.deprovision('i', ids, asynchronous)
    expect(await world.ended(deleted)).toMatchObject({ state: 'succeeded' })
    expect(world.clock.now() - asked).toBeLessThan(600_000)
    expect(world.lines('runs')).toEqual(['provision', 'deprovision'])
  })

  it('one of which is gone while a bundle waits to be run again: the other runs it', async () => {
    const world = await open({
      script: 'echo "$1" >> $out/runs; [ $(wc -l < $out/runs) -ge 2 ] || exit 75',
    })
    const doomed = createCrashableStore(world.store)
    const front = await world.start({ concurrency: 0 })
    await world.start({ host: 'a', store: doomed.store })
    const answer = await front.client.provision('i', { ...idsOf(world), ...place }, asynchronous)
    const ended = async () => (await world.store.instance('i'))?.state
    await world.until(async () => JSON.stringify(await ended()).includes('"ended":"again"'))
    doomed.crash()
    await world.start({ host: 'b' })
    expect(await world.ended(answer)).toMatchObject({ state: 'succeeded' })
    expect(world.lines('runs')).toHaveLength(2)
  })
})

describe('what a bundle needs is fetched on the machine that runs it', () => {
  /** Ends the process as SIGKILL does when it has fetched; `name` is what the step is called in the ledger. */
  function dyingAfterFetch(store: Store, name: string) {
    const doomed = createCrashableStore(store)
    const checkpoint: Store['checkpoint'] = async (lease, { step, ...more }) => {
      const fetched = step?.name === 'fetch 1'
      const written = await doomed.store.checkpoint(lease, { ...more, step: fetched ? { ...step, name } : step })
      if (fetched) doomed.crash()
      return written
    }
    return { ...doomed.store, checkpoint }
  }

  const counting = (fetched: string[], host: string) => (runtime: Runtime) => ({
    ...runtime,
    prepare: async (...given: Parameters<Runtime['prepare']>) => {
      fetched.push(host)
      await runtime.prepare(...given)
    },
  })

  it.each([
    ['by another machine', 'b', 'fetch 1', ['a', 'b'], ['fetch 1', 'fetch 1 on machine 2']],
    ['by the same machine', 'a', 'fetch 1', ['a'], ['fetch 1']],
    // As an earlier release has called it.
    ['by another machine, under an older name', 'b', 'fetch 1 on a', ['a', 'b'], ['fetch 1 on a', 'fetch 1']],
    ['by the same machine, under an older name', 'a', 'fetch 1 on a', ['a', 'a'], ['fetch 1 on a', 'fetch 1']],
  ])('when an operation is continued %s', async (_, next, name, machines, steps) => {
    const world = await open({ script: 'echo "$1" >> $out/runs', quick: true })
    const fetched: string[] = []
    const front = await world.start({ concurrency: 0 })
    await world.start({ host: 'a', wrap: counting(fetched, 'a'), store: dyingAfterFetch(world.store, name) })
    const provisioned = await front.client.provision('i', { ...idsOf(world), ...place }, asynchronous)
    await world.until(() => fetched.length === 1)
    await world.start({ host: next, wrap: counting(fetched, next) })
    const operation = await world.ended(provisioned)
    expect(operation).toMatchObject({ state: 'succeeded' })
    expect(fetched).toEqual(machines)
    const names = (await world.store.steps(operation.id)).map(({ name }) => name)
    expect(names.filter(name => name.startsWith('fetch'))).toEqual(steps)
    expect(world.lines('runs')).toEqual(['provision'])
  })
})

it.each([
  ['prepare', 'fetch 1', 'the bundle cannot be fetched now'],
  ['start', 'start 1', 'what runs the bundle does not answer'],
  ['collect', 'collect 1', 'what runs the bundle does not answer'],
  ['remove', 'remove 1', 'what runs the bundle does not answer'],
] as const)('a platform reads why the %s of a runtime is tried again, and not where', async (call, step, reason) => {
  const world = await open({ script: 'exit 0', quick: true })
  const down = async () => {
    throw new RuntimeUnavailableError('the engine at /run/engine.sock of vm-17 does not answer')
  }
  let isDown = true
  const wrap = (runtime: Runtime): Runtime => ({
    ...runtime,
    [call]: (...given: never[]) => (isDown ? down() : (runtime[call] as (...given: never[]) => unknown)(...given)),
  })
  const { client } = await world.start({ host: 'vm-17', wrap })
  const answer = await client.provision('i', { ...idsOf(world), ...place }, asynchronous)
  const told = await world.until(async () => {
    const { description = '' } = (await client.lastOperation('i')).body
    return description?.includes('trying again') && description
  })
  expect(told).toMatch(new RegExp(`^the step "${step}" failed \\d+ times? \\(${reason}\\), trying again$`))
  isDown = false
  expect(await world.ended(answer)).toMatchObject({ state: 'succeeded' })
})
