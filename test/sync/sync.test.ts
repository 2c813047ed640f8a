import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { observeLines } from '../../src/observer/log.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { bundle, idsOf, minute, ScriptedRegistry, startWorld } from './world.ts'

const pg = idsOf('dh', 'pg')
const incomplete = { acceptsIncomplete: true }

async function start(options: Partial<Parameters<typeof startWorld>[0]> = {}, ...found: ReturnType<typeof bundle>[]) {
  const dh = new ScriptedRegistry('dh')
  dh.offers(...(found.length === 0 ? [bundle('pg')] : found))
  return { dh, ...(await startWorld({ registries: [dh], ...options })) }
}

async function stateOf({ store }: Awaited<ReturnType<typeof start>>, registry = 'dh') {
  const { registries } = await store.registries()
  return registries.find(({ name }) => name === registry)
}

describe('a sync', () => {
  it('that finds nothing new changes no service and no revision', async () => {
    const world = await start()
    const before = await world.store.catalog()
    await world.clock.advance(minute)
    await world.sync()
    expect(await world.store.catalog(before?.version)).toBeUndefined()
    expect(await stateOf(world)).toMatchObject({ checkedAt: world.clock.now(), failures: 0 })
  })

  it('runs once over all replicas, and every replica shows what it found', async () => {
    const clock = createVirtualClock()
    const store = createMemoryStore({ clock })
    const dh = new ScriptedRegistry('dh')
    dh.offers(bundle('pg'))
    dh.hold()
    const one = await startWorld({ registries: [dh], clock, store })
    const two = await startWorld({ registries: [dh], clock, store })
    const again = await two.fetch(new Request(`${two.url}/admin/chores/sync/runs`, { method: 'POST' }))
    expect(again.status).toBe(409)
    dh.release()
    await clock.advance(10_000)
    expect(dh.asked).toBe(1)
    expect([await one.names(), await two.names()]).toEqual([['dh-pg'], ['dh-pg']])
  })

  it('by its schedule asks again', async () => {
    const { dh, clock } = await start({ settings: { chores: { sync: '*/10 * * * *' } } })
    expect(dh.asked).toBe(1)
    await clock.advance(25 * minute)
    expect(dh.asked).toBe(3)
  })

  it('keeps the last good revision of a spec that cannot be read any more', async () => {
    const world = await start()
    world.dh.offers(bundle('pg', { source: 'name: [' }))
    await world.sync()
    expect(await world.names()).toEqual(['dh-pg'])
    expect((await stateOf(world))?.problems?.[0]).toMatch(/^pg: /)
    await world.client.provision('one', pg, incomplete)
    expect(await world.end('one')).toMatchObject({ state: 'succeeded' })
  })

  it('offers one of two bundles with one name, and says which one it left out', async () => {
    const [dh, twin] = [new ScriptedRegistry('a'), new ScriptedRegistry('a-b')]
    dh.offers(bundle('b-pg'))
    twin.offers(bundle('pg'))
    const { names, store } = await startWorld({ registries: [dh, twin] })
    expect(await names()).toEqual(['a-b-pg'])
    const { registries } = await store.registries()
    expect(registries.find(({ name }) => name === 'a-b')?.problems).toEqual([
      'pg: not offered, since b-pg of registry a is a-b-pg too; rename one of them',
    ])
  })

  it('does not offer a plan with the id of another one, though the services have different names', async () => {
    const world = await start({}, bundle('a', { plans: ['b-c'] }), bundle('a-b', { plans: ['c'] }))
    expect(idsOf('dh', 'a', 'b-c').plan_id).toBe(idsOf('dh', 'a-b', 'c').plan_id)
    expect(await world.names()).toEqual(['dh-a'])
    expect((await stateOf(world))?.problems).toEqual([
      'a-b: its plan "c" gets the id of a plan of "dh-a"; rename one of them',
    ])
  })

  it('takes what one registry answers though another one never does', async () => {
    const [dh, slow] = [new ScriptedRegistry('dh'), new ScriptedRegistry('slow')]
    dh.offers(bundle('pg'))
    slow.hold()
    const { names, clock } = await startWorld({ registries: [slow, dh] })
    await clock.advance(1_000)
    expect(await names()).toEqual(['dh-pg'])
    slow.release()
  })

  it.each([
    ['drops a plan that has instances', { plans: ['large'] }, /keep it until its instances/],
    ['demands a new parameter', { parameters: '[{ name: size, type: int, required: true }]' }, /take less/],
  ])('does not publish a version that %s', async (_, after, problem) => {
    const world = await start()
    await world.client.provision('one', pg, incomplete)
    await world.end('one')
    world.dh.offers(bundle('pg', { version: '2.0.0', ...after }))
    await world.sync()
    const { body } = await world.client.catalog()
    expect(body.services?.[0]?.plans).toMatchObject([{ name: 'small', maintenance_info: { version: '1.0.0' } }])
    expect((await stateOf(world))?.problems?.[0]).toMatch(problem)

    await world.client.deprovision('one', pg, incomplete)
    await world.end('one')
    await world.sync()
    expect((await world.client.catalog()).body.services?.[0]?.plans[0]?.maintenance_info).toEqual({ version: '2.0.0' })
  })

  it('tells operators once of what is new that is wrong', async () => {
    const said: string[] = []
    const observer = observeLines('info', ({ text, fields }) => said.push(`${text} ${JSON.stringify(fields)}`))
    const world = await start({ observer })
    const about = () => said.splice(0).filter(line => line.startsWith('a registry'))
    expect(about()).toEqual([])
    world.dh.fails('no route')
    for (const expected of [['a registry does not answer {"registry":"dh","problem":"no route"}'], []]) {
      await world.sync()
      expect(about()).toEqual(expected)
    }
    world.dh.offers(bundle('pg'), bundle('x', { source: 'name: [' }))
    await world.sync()
    expect(about()).toEqual([
      'a registry answers again {"registry":"dh"}',
      expect.stringMatching(/^a registry has something that cannot be used .*"x: spec:/),
    ])
    await world.sync()
    expect(about()).toEqual([])
  })

  it.each([
    ['gone', {}, (dh: ScriptedRegistry) => dh.offers(bundle('redis'))],
    ['failures', { failureLimit: 1 }, (dh: ScriptedRegistry) => dh.fails()],
  ])('names what leaves the catalog, and why: %s', async (reason, reconcile, change) => {
    const said: unknown[] = []
    const world = await start({ reconcile, observer: { 'service.retired': fields => said.push(fields) } })
    change(world.dh)
    await world.sync()
    expect(said).toEqual([{ service: 'dh-pg', registry: 'dh', reason }])
    await world.sync()
    expect(said).toHaveLength(1)
  })

  it.each([
    ['has no entry point', {}, 'entrypoint.sh: error: is missing'],
    ['has none but could be built', { Dockerfile: 'FROM scratch' }, 'entrypoint.sh: error: is missing'],
    ['cannot be executed', { 'entrypoint.sh': '#!/bin/sh\n' }, 'entrypoint.sh: error: is not executable'],
  ])('does not offer a folder that %s', async (_, files, problem) => {
    const folder = await mkdtemp(join(tmpdir(), 'purser-sync-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
    const world = await start()
    world.dh.offers(bundle('pg'), { ...bundle('broken'), image: folder })
    await world.sync()
    expect(await world.names()).toEqual(['dh-pg'])
    expect((await stateOf(world))?.problems).toEqual([expect.stringContaining(`broken: ${problem}`)])
    await writeFile(join(folder, 'entrypoint.sh'), '#!/bin/sh\n')
    await chmod(join(folder, 'entrypoint.sh'), 0o755)
    await world.sync()
    expect(await world.names()).toEqual(['dh-broken', 'dh-pg'])
  })

  it('does not offer an image that has no entry point, unless its spec names one', async () => {
    const withoutProgram = 'its image has no ENTRYPOINT'
    const world = await start()
    const named = bundle('named', { source: `${bundle('named').source}entrypoint: run.sh\n` })
    world.dh.offers(bundle('pg'), { ...bundle('bare'), withoutProgram }, { ...named, withoutProgram })
    await world.sync()
    expect(await world.names()).toEqual(['dh-named', 'dh-pg'])
    expect((await stateOf(world))?.problems).toEqual([`bare: ${withoutProgram}`])
  })

  it('keeps all problems for operators to read', async () => {
    const world = await start()
    world.dh.offers(...Array.from({ length: 50 }, (_, index) => bundle(`x${index}`, { source: 'name: [' })))
    await world.sync()
    expect(new Set((await stateOf(world))?.problems?.map(problem => problem.split(':')[0])).size).toBe(50)
  })

  it('keeps twenty problems of one spec, and how many more there are', async () => {
    const world = await start()
    world.dh.offers(bundle('x', { source: `${bundle('x').source}tags: [${'{},'.repeat(1000)}]\n` }))
    await world.sync()
    const problems = (await stateOf(world))?.problems
    expect(problems).toHaveLength(21)
    expect(problems).toContain('x: and 81 more; "purser bundle lint" tells them')
  })

  it('publishes nothing in the place of a service of the code', async () => {
    const dh = new ScriptedRegistry('dh')
    dh.offers(bundle('pg'))
    const own = {
      id: 'own',
      name: 'dh-pg',
      description: 'of the code',
      bindable: false,
      plans: [{ id: 'own-small', name: 'small', description: 'small', free: true }],
      provision: () => undefined,
      deprovision: () => undefined,
    }
    const { client, store } = await startWorld({ registries: [dh], services: [own] })
    expect((await client.catalog()).body.services?.map(({ id }) => id)).toEqual(['own'])
    expect((await store.registries()).registries[0]?.problems?.[0]).toContain('the broker\'s own service "dh-pg"')
    expect((await client.provision('one', { service_id: 'own', plan_id: 'own-small' })).status).toBe(201)
  })

  it('changes the ETag of the catalog when the catalog changes, and only then', async () => {
    const { dh, sync, fetch, url } = await start()
    const etag = async () => {
      const headers = { 'x-broker-api-version': '2.17' }
      return (await fetch(new Request(`${url}/v2/catalog`, { headers }))).headers.get('etag')
    }
    const first = await etag()
    await sync()
    expect(await etag()).toBe(first)
    dh.offers(bundle('pg'), bundle('redis'))
    await sync()
    expect(await etag()).not.toBe(first)
  })
})

describe('an update', () => {
  const plans = ['small', 'large'] as const
  const parameters =
    '[{ name: size, type: int, default: 3, updatable: true }, { name: region, type: string, default: eu }]'

  async function startUpdatable(updatesTo: readonly string[]) {
    const world = await start({}, bundle('pg', { plans, parameters, updatesTo }))
    await world.client.provision('one', { ...pg, parameters: { region: 'us' } }, incomplete)
    await world.end('one')
    return world
  }

  it('moves to a plan that the present one updates to', async () => {
    const { client, end } = await startUpdatable(['large'])
    const { plan_id } = idsOf('dh', 'pg', 'large')
    await client.update('one', { service_id: pg.service_id, plan_id }, incomplete)
    expect(await end('one')).toMatchObject({ state: 'succeeded' })
    expect((await client.fetchInstance('one')).body).toMatchObject({ plan_id, parameters: { size: 3, region: 'us' } })
  })

  it('is judged on what it leads to: what it must have, the instance may have already', async () => {
    const demanded =
      '[{ name: size, type: int, required: true, updatable: true }, { name: note, type: string, updatable: true }]'
    const { client, end } = await start({}, bundle('pg', { plans, parameters: demanded, updatesTo: ['large'] }))
    await client.provision('one', { ...pg, parameters: { size: 5 } }, incomplete)
    await end('one')
    const { plan_id } = idsOf('dh', 'pg', 'large')
    const { service_id } = pg
    expect(await client.update('one', { service_id, plan_id }, incomplete)).toMatchObject({ status: 202 })
    expect(await end('one')).toMatchObject({ state: 'succeeded' })
    const noted = await client.update('one', { service_id, parameters: { note: 'n' } }, incomplete)
    expect(noted).toMatchObject({ status: 202 })
    expect(await end('one')).toMatchObject({ state: 'succeeded' })
    expect((await client.fetchInstance('one')).body).toMatchObject({ plan_id, parameters: { size: 5, note: 'n' } })
  })

  it('moves to no other plan', async () => {
    const { client } = await startUpdatable(['small'])
    const { plan_id } = idsOf('dh', 'pg', 'large')
    const { status, body } = await client.update('one', { service_id: pg.service_id, plan_id }, incomplete)
    expect({ status, error: body.error }).toEqual({ status: 422, error: 'PlanChangeNotSupported' })
  })

  it('takes values that stay as they are, also of parameters that cannot be changed', async () => {
    const { client, end, ran } = await startUpdatable([])
    const service_id = pg.service_id
    await client.update('one', { service_id, parameters: { size: 5, region: 'us' } }, incomplete)
    expect(await end('one')).toMatchObject({ state: 'succeeded' })
    expect((await client.fetchInstance('one')).body.parameters).toEqual({ size: 5, region: 'us' })
    const other = await client.update('one', { service_id, parameters: { region: 'eu' } }, incomplete)
    expect({ status: other.status, error: other.body.error }).toEqual({ status: 400, error: 'InvalidParameters' })
    expect((await client.update('one', { service_id, parameters: { size: 5 } }, incomplete)).status).toBe(200)
    expect(ran).toEqual(['provision 1.0.0', 'update 1.0.0'])
  })

  it('to a version that knows other parameters leaves behind what it does not know, and fills in its defaults', async () => {
    const { dh, client, end, sync, clock } = await startUpdatable([])
    // Fewer parameters would harm the instance that has them; a retired one that comes back may be anything.
    dh.offers()
    await sync()
    await clock.advance(minute)
    dh.offers(
      bundle('pg', {
        version: '2.0.0',
        plans,
        parameters: parameters.replace(']', ', { name: tier, type: string, default: gold }]'),
      }),
    )
    await sync()
    const { body } = await client.catalog()
    expect(body.services?.[0]?.plans[0]?.maintenance_info).toEqual({ version: '2.0.0' })
    await client.update('one', { service_id: pg.service_id, maintenance_info: { version: '2.0.0' } }, incomplete)
    expect(await end('one')).toMatchObject({ state: 'succeeded' })
    expect((await client.fetchInstance('one')).body.parameters).toEqual({ size: 3, region: 'us', tier: 'gold' })
  })

  it('with an old maintenance_info is a conflict', async () => {
    const { dh, client, sync } = await startUpdatable([])
    dh.offers(bundle('pg', { version: '2.0.0', plans, parameters }))
    await sync()
    const old = { service_id: pg.service_id, maintenance_info: { version: '1.0.0' } }
    const { status, body } = await client.update('one', old, incomplete)
    expect({ status, error: body.error }).toEqual({ status: 422, error: 'MaintenanceInfoConflict' })
  })
})
