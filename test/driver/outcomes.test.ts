/** What the end of a bundle means for the platform and the ledger. */
import { describe, expect, it } from 'vitest'
import { readLog } from '../../src/broker/read-log.ts'
import { operationRow, stepRow } from '../../src/testing/store-contract/rows.ts'
import { adminOf } from '../verbs/admin.ts'
import { asynchronous, idsOf, patient, place, useWorlds, type World, type WorldOptions } from './world.ts'

const open = useWorlds()

async function opened(options: WorldOptions) {
  const world = await open(options)
  const { client } = await world.start()
  const ids = idsOf(world)
  const provision = async (parameters = {}, id = 'i') =>
    world.ended(await client.provision(id, { ...ids, ...place, parameters }, asynchronous))
  const bind = async (id: string) => world.ended(await client.bind('i', id, ids, asynchronous))
  const update = async (parameters: { size: number }) =>
    world.ended(await client.update('i', { service_id: ids.service_id, parameters }, asynchronous))
  const deprovision = async () => world.ended(await client.deprovision('i', ids, asynchronous))
  const unbind = async (id: string) => world.ended(await client.unbind('i', id, ids, asynchronous))
  return { world, client, ids, provision, update, bind, unbind, deprovision }
}

async function left(world: World) {
  return (await world.runtimeOf()).list()
}

describe('exit codes', () => {
  it('0 is success, and the last message is shown', async () => {
    const { world, provision } = await opened({ script: 'echo all is well > "$BUNDLE_OUTPUT/message"' })
    expect(await provision()).toMatchObject({ state: 'succeeded', description: 'all is well' })
    expect(await left(world)).toEqual([])
  })

  it('8 is an action that the bundle has not: no bind is success, with the credentials of the provision', async () => {
    const { client, provision, update, bind, unbind, deprovision } = await opened({
      script:
        'if [ "$1" = provision ]; then echo \'{"user":"me"}\' > "$BUNDLE_OUTPUT/credentials.json"; else exit 8; fi',
    })
    await provision()
    expect(await bind('b')).toMatchObject({ state: 'succeeded' })
    expect((await client.fetchBinding('i', 'b')).body.credentials).toEqual({ user: 'me' })
    expect(await unbind('b')).toMatchObject({ state: 'succeeded' })
    expect(await update({ size: 4 })).toMatchObject({
      state: 'failed',
      error: { message: 'The bundle has no update.', updateRepeatable: false },
    })
    expect(await deprovision()).toMatchObject({ state: 'failed', description: 'The bundle has no deprovision.' })
  })

  it('75 is run again, later and later, until it is not', async () => {
    const { world, client, ids } = await opened({
      script: `echo run >> $out/runs; [ $(wc -l < $out/runs) -ge 4 ] && exit 0
        echo not yet > "$BUNDLE_OUTPUT/message"; exit 75`,
    })
    const began = world.clock.now()
    const answer = await client.provision('i', { ...ids, ...place }, asynchronous)
    await world.until(async () => (await client.lastOperation('i')).body.description === 'not yet')
    const operation = await world.ended(answer)
    expect(operation).toMatchObject({ state: 'succeeded' })
    expect(world.lines('runs')).toHaveLength(4)
    // 1 + 2 + 4 seconds lie between them.
    expect((operation.finishedAt ?? 0) - began).toBeGreaterThanOrEqual(7_000)
    const steps = (await world.store.steps(operation.id)).map(({ name }) => name)
    expect(steps.filter(name => name.startsWith('start'))).toEqual(['start 1', 'start 2', 'start 3', 'start 4'])
    expect(await left(world)).toEqual([])
  })

  it.each([
    ['another with a message', 'echo the disk is full > "$BUNDLE_OUTPUT/message"; exit 3', 'the disk is full'],
    ['another without', 'exit 3', 'The bundle ended with exit code 3.'],
    ['0 with unreadable credentials', 'echo no > "$BUNDLE_OUTPUT/credentials.json"', 'credentials.json is not a JSON'],
  ])('%s is a failure', async (_, script, description) => {
    const { world, provision } = await opened({ script })
    expect(await provision()).toMatchObject({ state: 'failed', description: expect.stringContaining(description) })
    expect(await left(world)).toEqual([])
  })
})

it('a bundle that failed is held where that is wanted, and a release runs it in a sandbox of its own', async () => {
  const script = 'echo run >> $out/runs; [ -e $out/fixed ] || exit 3'
  const world = await open({ script, settings: { engine: { timeouts: patient, hold: ['*'] } } })
  const broker = await world.start()
  const { body } = await broker.client.provision('i', { ...idsOf(world), ...place }, asynchronous)
  const operation = body.operation ?? ''
  const admin = adminOf(broker)
  const isHeld = () => world.until(async () => (await world.store.operation(operation))?.hold)
  expect((await isHeld()).error).toEqual({ message: 'The bundle ended with exit code 3.' })
  await admin.actOnOperation(operation, 'release')
  await isHeld()
  expect(world.lines('runs')).toHaveLength(2)
  world.touch('fixed')
  await admin.actOnOperation(operation, 'retry')
  const { id, state } = await world.until(async () => {
    const row = await world.store.operation(operation)
    return row?.finishedAt !== undefined && row
  })
  expect({ id, state }).toEqual({ id: operation, state: 'succeeded' })
  expect(world.lines('runs')).toHaveLength(3)
  const { runs } = await readLog(world.store, operation)
  expect(runs.map(({ name, verdict }) => [name, verdict])).toEqual([
    ['collect 1', 'failed'],
    ['collect 2', 'failed'],
    ['collect 3', 'succeeded'],
  ])
  expect(await left(world)).toEqual([])
})

describe('the log of an operation', () => {
  it('has what each run printed, and how it ended', async () => {
    const { world, provision } = await opened({ script: 'echo printed; exit 3' })
    const { id } = await provision()
    const { runs } = await readLog(world.store, id)
    expect(runs).toMatchObject([{ name: 'collect 1', exit: 3, verdict: 'failed', log: 'printed\n' }])
  })

  it('stays when what it was about is deleted, and nothing else of its steps does', async () => {
    const script = `echo printed; echo '{"password":"made"}' > "$BUNDLE_OUTPUT/credentials.json"`
    const { world, provision, deprovision } = await opened({ script })
    const { id } = await provision()
    const outputs = async () => (await world.store.steps(id)).filter(({ output }) => output !== undefined)
    expect(JSON.stringify(await outputs())).toContain('made')
    const { runs } = await readLog(world.store, id)
    expect(await deprovision()).toMatchObject({ state: 'succeeded' })
    expect(await outputs()).toEqual([])
    expect(runs).toEqual([{ name: 'collect 1', exit: 0, verdict: 'succeeded', log: 'printed\n' }])
    expect(await readLog(world.store, id)).toMatchObject({ runs })
  })

  it('is found where an older release has kept it', async () => {
    const output = { log: 'printed\n', exit: 0, verdict: { kind: 'succeeded' }, outputs: {} }
    const steps = async () => [stepRow('collect 1', { output })]
    const { runs } = await readLog({ operation: async id => operationRow(id, 'i'), steps }, 'o')
    expect(runs).toEqual([{ name: 'collect 1', exit: 0, verdict: 'succeeded', log: 'printed\n' }])
  })
})

describe('a running bundle', () => {
  it('shows its progress', async () => {
    const { world, client, ids } = await opened({
      script: `for step in one two; do
        echo step $step > "$BUNDLE_OUTPUT/progress"; while [ ! -e $out/$step ]; do sleep 0.02; done
      done`,
    })
    const answer = await client.provision('i', { ...ids, ...place }, asynchronous)
    for (const step of ['one', 'two']) {
      await world.until(async () => (await client.lastOperation('i')).body.description === `step ${step}`)
      world.touch(step)
    }
    await world.ended(answer)
    expect((await client.lastOperation('i')).body).toEqual({ state: 'succeeded' })
  })
})

describe('credentials', () => {
  const give = (creds: string) => `echo '${creds}' > "$BUNDLE_OUTPUT/credentials.json"`

  it('of a bind come before those of the provision, and those of an update replace them', async () => {
    const { world, client, provision, update, bind } = await opened({
      script: `case "$1" in
        provision) ${give('{"user":"first"}')};;
        update) ${give('{"user":"second"}')};;
        bind) [ -e $out/own ] && ${give('{"user":"own"}')};;
        esac; exit 0`,
    })
    await provision()
    await bind('before')
    await update({ size: 4 })
    await bind('after')
    world.touch('own')
    await bind('own')
    for (const [id, user] of [
      ['before', 'first'],
      ['after', 'second'],
      ['own', 'own'],
    ] as const)
      expect((await client.fetchBinding('i', id)).body.credentials).toEqual({ user })
  })

  it('that nobody wrote fail a bind', async () => {
    const { provision, bind } = await opened({ script: 'exit 0' })
    await provision()
    expect(await bind('b')).toMatchObject({ state: 'failed', description: expect.stringContaining('no credentials') })
  })
})

describe('state', () => {
  it('of parallel binds is merged', async () => {
    const { world, client, ids, provision } = await opened({
      script: `if [ "$1" = bind ]; then
        id=$(sed 's/.*"binding":{"id":"\\([^"]*\\)".*/\\1/' "$BUNDLE_INPUT")
        echo '{}' > "$BUNDLE_OUTPUT/credentials.json"; echo "{\\"$id\\":\\"1\\"}" > "$BUNDLE_OUTPUT/state.json"
        echo $id >> $out/bound; while [ $(wc -l < $out/bound) -lt 3 ]; do sleep 0.02; done
      fi`,
    })
    await provision()
    const names = ['b1', 'b2', 'b3']
    const bound = await Promise.all(names.map(name => client.bind('i', name, ids, asynchronous)))
    for (const answer of bound) expect(await world.ended(answer)).toMatchObject({ state: 'succeeded' })
    expect((await world.store.instance('i'))?.state).toEqual({ state: { b1: '1', b2: '1', b3: '1' } })
  })

  it('is kept by a deprovision that fails, and has a limit', async () => {
    const { world, provision, update, deprovision } = await opened({
      script: `large=$(head -c 600000 /dev/zero | tr '\\0' x)
        case "$1" in
        provision) echo "{\\"a\\":\\"$large\\"}" > "$BUNDLE_OUTPUT/state.json";;
        update) echo "{\\"b\\":\\"$large\\"}" > "$BUNDLE_OUTPUT/state.json";;
        deprovision) [ $(wc -c < "$BUNDLE_STATE/a") = 600000 ] || exit 9; [ -e $out/again ] || exit 1;;
        esac`,
    })
    expect(await provision()).toMatchObject({ state: 'succeeded' })
    expect(await update({ size: 4 })).toMatchObject({
      state: 'failed',
      description: expect.stringContaining('would have 1200002 bytes, and may have 1048576'),
    })
    expect(await deprovision()).toMatchObject({ state: 'failed', description: expect.stringContaining('exit code 1') })
    world.touch('again')
    expect(await deprovision()).toMatchObject({ state: 'succeeded' })
    expect((await world.store.instance('i'))?.state).toEqual({})
    expect(await left(world)).toEqual([])
  })
})

describe('a deprovision with bindings', () => {
  it('runs each unbind once, and itself once, however often it is looked at', async () => {
    const { world, client, ids, provision, bind } = await opened({
      settings: { osb: { cascadeDelete: true } },
      script: `echo "$1" >> $out/runs
        [ "$1" = provision ] && echo '{}' > "$BUNDLE_OUTPUT/credentials.json"
        if [ "$1" = deprovision ]; then while [ ! -e $out/go ]; do sleep 0.02; done; fi; exit 0`,
    })
    await provision()
    await bind('b1')
    await bind('b2')
    const answer = await client.deprovision('i', ids, asynchronous)
    await world.until(() => world.lines('runs').includes('deprovision'))
    const parked = world.clock.now() + 30_000
    await world.until(() => world.clock.now() > parked)
    world.touch('go')
    expect(await world.ended(answer)).toMatchObject({ state: 'succeeded' })
    expect(world.lines('runs').slice(3)).toEqual(['unbind', 'unbind', 'deprovision'])
    expect(await left(world)).toEqual([])
  })
})
