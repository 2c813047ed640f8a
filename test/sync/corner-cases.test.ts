import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { RevisionGoneError } from '../../src/store.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { bundle, idsOf, minute, ScriptedRegistry, startWorld } from './world.ts'

const pg = idsOf('dh', 'pg')
const incomplete = { acceptsIncomplete: true }

/** A registry with `pg` in it, which has been read. */
async function startWithPg(options: Partial<Parameters<typeof startWorld>[0]> = {}) {
  const dh = new ScriptedRegistry('dh')
  dh.offers(bundle('pg'))
  const world = await startWorld({ registries: [dh], ...options })
  expect(await world.names()).toEqual(['dh-pg'])
  return { dh, ...world }
}

describe('lost connection', () => {
  it('retires nothing before retireAfter, and then what nobody uses', async () => {
    const { dh, clock, sync, names } = await startWithPg()
    dh.fails()
    await sync()
    await clock.advance(9 * minute)
    await sync()
    expect(await names()).toEqual(['dh-pg'])
    await clock.advance(2 * minute)
    await sync()
    expect(await names()).toEqual([])
    dh.offers(bundle('pg'))
    await sync()
    expect(await names()).toEqual(['dh-pg'])
  })

  it('with a failureLimit: retires at that many failures in a row, and an answer begins the count anew', async () => {
    const { dh, clock, sync, names } = await startWithPg({
      reconcile: { failureLimit: 3, retireAfter: 1000 * minute },
    })
    for (const offered of [true, true, false]) {
      dh.fails()
      await clock.advance(60_000)
      await sync()
      expect((await names()).length === 1).toBe(offered)
    }
    dh.offers(bundle('pg'))
    await sync()
    dh.fails()
    await clock.advance(60_000)
    await sync()
    expect(await names()).toEqual(['dh-pg'])
  })

  it('never retires what an instance uses', async () => {
    const { dh, clock, client, end, sync, names, ran } = await startWithPg({ reconcile: { failureLimit: 1 } })
    await client.provision('one', pg, incomplete)
    await end('one')
    dh.fails()
    await clock.advance(20 * minute)
    await sync()
    expect(await names()).toEqual(['dh-pg'])
    expect((await client.deprovision('one', pg, incomplete)).status).toBe(202)
    expect(await end('one')).toMatchObject({ state: 'succeeded' })
    expect(ran).toEqual(['provision 1.0.0', 'deprovision 1.0.0'])
  })

  it('of one registry does not touch another one, and a partial answer retires nothing', async () => {
    const [dh, quay] = [new ScriptedRegistry('dh'), new ScriptedRegistry('quay')]
    dh.offers(bundle('pg'))
    quay.offers(bundle('redis'), bundle('mysql'))
    const { clock, sync, names } = await startWorld({ registries: [dh, quay] })
    dh.fails()
    quay.offersInPart(bundle('redis', { version: '1.1.0' }))
    await clock.advance(60_000)
    await sync()
    expect(await names()).toEqual(['dh-pg', 'quay-mysql', 'quay-redis'])
  })

  it('with fail_on_error: the run counts as failed, and what others answered is written all the same', async () => {
    const [dh, quay] = [new ScriptedRegistry('dh', true), new ScriptedRegistry('quay')]
    dh.fails('certificate has expired')
    quay.offers(bundle('redis'))
    const { store, names } = await startWorld({ registries: [dh, quay] })
    expect(await names()).toEqual(['quay-redis'])
    const { chores } = await store.chores()
    expect(chores.find(({ name }) => name === 'sync')?.result).toEqual({
      ok: false,
      message: 'fail_on_error: dh did not answer',
    })
  })
})

describe('removed spec with instances', () => {
  it('leaves the catalog, serves its instances to their end, and goes with the last deprovision', async () => {
    const { dh, client, end, sync, names, store, ran } = await startWithPg()
    await client.provision('one', pg, incomplete)
    await end('one')
    dh.offers()
    await sync()
    expect(await names()).toEqual([])
    expect((await store.catalog())?.services).toMatchObject([
      { serviceId: pg.service_id, retiredAt: expect.anything() },
    ])

    expect((await client.bind('one', 'b', pg, incomplete)).status).toBe(202)
    await clockUntilBound(client, 'one', 'b')
    expect((await client.fetchInstance('one')).body).toMatchObject(pg)
    expect((await client.unbind('one', 'b', pg)).status).toBe(200)
    expect((await client.deprovision('one', pg, incomplete)).status).toBe(202)
    expect(await end('one')).toMatchObject({ state: 'succeeded' })
    expect(ran).toEqual(['provision 1.0.0', 'bind 1.0.0', 'unbind 1.0.0', 'deprovision 1.0.0'])
    await expect.poll(() => store.catalog()).toMatchObject({ services: [], revisions: [] })
    expect((await client.deprovision('one', pg, incomplete)).status).toBe(410)
  })

  it('is deleted by the purge where the broker died after the last deprovision', async () => {
    const { dh, client, clock, end, sync, store, fetch, url } = await startWithPg()
    await client.provision('one', pg, incomplete)
    await end('one')
    dh.offers()
    await sync()
    // The uses are gone without the broker's doing, as after a crash between the end and the collection.
    await store.accept({ instanceId: 'one' }, ({ instance }) => {
      if (instance === undefined) throw new Error('there is no instance')
      const { revisionId: _, ...rest } = instance
      return { answer: undefined, change: { instance: { ...rest, phase: 'deleted', deletedAt: clock.now() } } }
    })
    expect((await store.catalog())?.revisions).toHaveLength(1)
    expect((await fetch(new Request(`${url}/admin/chores/purge/runs`, { method: 'POST' }))).status).toBe(202)
    await expect.poll(() => store.catalog()).toMatchObject({ services: [], revisions: [] })
  })

  it('keeps an instance on its revision while a newer one is offered, until it is upgraded', async () => {
    const { dh, client, end, sync, store, ran } = await startWithPg()
    await client.provision('one', pg, incomplete)
    await end('one')
    dh.offers(bundle('pg', { version: '2.0.0' }))
    await sync()
    const { body } = await client.catalog()
    expect(body.services?.[0]?.plans[0]?.maintenance_info).toEqual({ version: '2.0.0' })
    await client.bind('one', 'b', pg, incomplete)
    await clockUntilBound(client, 'one', 'b')
    await client.provision('two', pg, incomplete)
    await end('two')
    expect(ran).toEqual(['provision 1.0.0', 'bind 1.0.0', 'provision 2.0.0'])
    expect((await store.catalog())?.revisions).toHaveLength(2)

    const upgrade = { service_id: pg.service_id, maintenance_info: { version: '2.0.0' } }
    expect((await client.update('one', upgrade, incomplete)).status).toBe(202)
    expect(await end('one')).toMatchObject({ state: 'succeeded' })
    expect(ran.at(-1)).toBe('update 2.0.0')
    expect((await client.fetchInstance('one')).body.maintenance_info).toEqual({ version: '2.0.0' })
    await sync()
    expect((await store.catalog())?.revisions).toMatchObject([{ bundleVersion: '2.0.0' }])
  })

  it('keeps an instance whose upgrade failed on the revision that it had', async () => {
    const { dh, client, end, sync, store } = await startWithPg({
      act: (action, { bundleVersion }) => {
        if (action === 'update' && bundleVersion === '2.0.0')
          throw Object.assign(new Error('it does not work'), { status: 400 })
      },
    })
    await client.provision('one', pg, incomplete)
    await end('one')
    dh.offers(bundle('pg', { version: '2.0.0' }))
    await sync()
    await client.update('one', { service_id: pg.service_id, maintenance_info: { version: '2.0.0' } }, incomplete)
    expect(await end('one')).toMatchObject({ state: 'failed' })
    const { revisions = [] } = (await store.catalog()) ?? {}
    const old = revisions.find(({ bundleVersion }) => bundleVersion === '1.0.0')
    expect(await store.instance('one')).toMatchObject({ revisionId: old?.id, maintenanceVersion: '1.0.0' })
    expect(await store.instance('one')).not.toHaveProperty('nextRevisionId')
  })
})

describe('untimely provision', () => {
  it('while the first sync is still running: 202, waits for the catalog, then runs', async () => {
    const dh = new ScriptedRegistry('dh')
    dh.offers(bundle('pg', { parameters: '[{ name: size, type: int, default: 3 }]' }))
    dh.hold()
    const { client, clock, store, end, ran } = await startWorld({ registries: [dh] })
    const answer = await client.provision('one', pg, incomplete)
    expect(answer.status).toBe(202)
    await clock.advance(5_000)
    expect((await client.lastOperation('one')).body).toMatchObject({
      state: 'in progress',
      description: 'waiting for the catalog: the registries are being read',
    })
    dh.release()
    expect(await end('one')).toMatchObject({ state: 'succeeded' })
    expect(ran).toEqual(['provision 1.0.0'])
    // What could not be checked and filled in when the request came has been, before anything ran.
    expect(await store.instance('one')).toMatchObject({
      parameters: { size: 3 },
      maintenanceVersion: '1.0.0',
      revisionId: expect.any(String),
    })
    expect((await client.provision('one', pg, incomplete)).status).toBe(200)
  })

  it('while its registry has never answered: waits, and the catalog is unknown, not empty', async () => {
    const dh = new ScriptedRegistry('dh')
    dh.fails()
    const { client, url, fetch, clock, sync, end, ran } = await startWorld({ registries: [dh] })
    const readiness = async () => {
      const answer = await fetch(new Request(`${url}/readyz`))
      return { status: answer.status, body: await answer.json() }
    }
    expect(await client.catalog()).toMatchObject({ status: 503, body: { error: 'CatalogUnknown' } })
    expect(await readiness()).toMatchObject({ status: 503, body: { reason: expect.stringContaining('from dh') } })
    expect((await client.provision('one', pg, incomplete)).status).toBe(202)
    await clock.advance(minute)
    await sync()
    expect((await client.lastOperation('one')).body.state).toBe('in progress')

    dh.offers(bundle('pg'))
    await sync()
    expect(await readiness()).toMatchObject({ status: 200 })
    expect((await client.catalog()).body.services).toHaveLength(1)
    expect(await end('one')).toMatchObject({ state: 'succeeded' })
    expect(ran).toEqual(['provision 1.0.0'])
  })

  it('of what only a registry that has never answered may have waits; the rest of the catalog is there', async () => {
    const [dh, other] = [new ScriptedRegistry('dh'), new ScriptedRegistry('other')]
    other.offers(bundle('redis'))
    dh.fails()
    const { client, names, sync, end } = await startWorld({ registries: [dh, other] })
    expect(await names()).toEqual(['other-redis'])
    expect((await client.provision('one', pg, incomplete)).status).toBe(202)
    dh.offers()
    await sync()
    expect(await end('one')).toMatchObject({ state: 'failed', description: expect.stringContaining('No registry') })
  })

  it('of a registry that has nothing is refused: an empty catalog is an answer too', async () => {
    const { client, names } = await startWorld({ registries: [new ScriptedRegistry('dh')] })
    expect(await names()).toEqual([])
    expect((await client.provision('one', pg, incomplete)).status).toBe(400)
  })

  it('synchronously: the request waits for it', async () => {
    const dh = new ScriptedRegistry('dh')
    dh.offers(bundle('pg'))
    dh.hold()
    const { client, clock, ran } = await startWorld({ registries: [dh] })
    const answer = client.provision('one', pg)
    await clock.advance(3_000)
    dh.release()
    await clock.advance(3_000)
    expect((await answer).status).toBe(201)
    expect(ran).toEqual(['provision 1.0.0'])
  })

  it.each([
    ['a service that no registry offers', 'other', {}, /No registry offers this service/],
    ['parameters that the plan does not take', 'pg', { parameters: { colour: 'red' } }, /parameters are not valid/],
    ['a maintenance_info that the catalog does not have', 'pg', { maintenance_info: { version: '9.0.0' } }, /1\.0\.0/],
  ])('fails with the reason for %s', async (_, name, more, reason) => {
    const dh = new ScriptedRegistry('dh')
    dh.offers(bundle('pg'))
    dh.hold()
    const { client, end, ran } = await startWorld({ registries: [dh] })
    expect((await client.provision('one', { ...idsOf('dh', name), ...more }, incomplete)).status).toBe(202)
    dh.release()
    const ended = await end('one')
    expect(ended.state).toBe('failed')
    expect(ended.description).toMatch(reason)
    expect(ran).toEqual([])
  })

  it('that is deprovisioned before the catalog is known leaves nothing behind', async () => {
    const dh = new ScriptedRegistry('dh')
    dh.offers(bundle('pg'))
    dh.hold()
    const { client, end, clock, ran } = await startWorld({ registries: [dh] })
    await client.provision('one', pg, incomplete)
    await clock.advance(2_000)
    expect((await client.deprovision('one', pg, incomplete)).status).toBe(202)
    expect(await end('one')).toMatchObject({ state: 'succeeded' })
    dh.release()
    await clock.advance(60_000)
    expect(ran).toEqual([])
    expect((await client.fetchInstance('one')).status).toBe(404)
  })

  it('after a restart the catalog answers from the ledger at once, while the registry does not answer', async () => {
    const { clock, store, stop } = await startWithPg()
    await stop()
    const dh = new ScriptedRegistry('dh')
    dh.hold()
    const { names, client, end, ran } = await startWorld({ registries: [dh], clock, store })
    expect(await names()).toEqual(['dh-pg'])
    await client.provision('one', pg, incomplete)
    await end('one')
    expect(ran).toEqual(['provision 1.0.0'])
    dh.release()
  })
})

describe('out-of-sync provision', () => {
  async function startRetired(retiredPlans: 'reject' | 'accept' | 'fail-async') {
    const world = await startWithPg({ settings: { reconcile: { retiredPlans } } })
    await world.client.provision('keeper', pg, incomplete)
    await world.end('keeper')
    world.dh.offers()
    await world.sync()
    expect(await world.names()).toEqual([])
    return world
  }

  it('retiredPlans: reject answers 400 and says what to do', async () => {
    const { client, ran } = await startRetired('reject')
    const { status, body } = await client.provision('late', pg, incomplete)
    expect(status).toBe(400)
    expect(body).toMatchObject({ error: 'RetiredPlan', description: expect.stringContaining('read the catalog again') })
    expect(ran).toEqual(['provision 1.0.0'])
    // What is there is answered as before.
    expect((await client.provision('keeper', pg, incomplete)).status).toBe(200)
  })

  it('retiredPlans: accept provisions what the broker still has', async () => {
    const { client, end, ran } = await startRetired('accept')
    expect((await client.provision('late', pg, incomplete)).status).toBe(202)
    expect(await end('late')).toMatchObject({ state: 'succeeded' })
    expect(ran).toEqual(['provision 1.0.0', 'provision 1.0.0'])
  })

  it('retiredPlans: fail-async accepts, and fails with the reason', async () => {
    const { client, end, ran } = await startRetired('fail-async')
    expect((await client.provision('late', pg, incomplete)).status).toBe(202)
    const ended = await end('late')
    expect(ended).toMatchObject({ state: 'failed', description: expect.stringContaining('no longer offers') })
    expect(ran).toEqual(['provision 1.0.0'])
    // Nothing was done, so nothing is there.
    expect((await client.deprovision('late', pg, incomplete)).status).toBe(410)
  })

  it.each(['reject', 'accept', 'fail-async'] as const)(
    'of a plan that a new version left out: %s',
    async retiredPlans => {
      const dh = new ScriptedRegistry('dh')
      dh.offers(bundle('pg', { plans: ['small', 'large'] }))
      const { client, end, sync } = await startWorld({ registries: [dh], settings: { reconcile: { retiredPlans } } })
      await client.provision('keeper', pg, incomplete)
      await end('keeper')
      dh.offers(bundle('pg', { version: '2.0.0', plans: ['small'] }))
      await sync()
      const { status, body } = await client.provision('late', idsOf('dh', 'pg', 'large'), incomplete)
      expect(status).toBe(retiredPlans === 'reject' ? 400 : 202)
      if (retiredPlans === 'reject') expect(body.error).toBe('RetiredPlan')
      else expect(await end('late')).toMatchObject({ state: retiredPlans === 'accept' ? 'succeeded' : 'failed' })
    },
  )

  it('of a revision that is replaced in that very moment gets the new one', async () => {
    const clock = createVirtualClock()
    const store = createMemoryStore({ clock })
    let refusals = 1
    const accept: typeof store.accept = (target, decide) => {
      if (target.instanceId === 'one' && refusals-- > 0) throw new RevisionGoneError('it is gone')
      return store.accept(target, decide)
    }
    const { client, end, ran } = await startWithPg({ clock, store: { ...store, accept } })
    expect((await client.provision('one', pg, incomplete)).status).toBe(202)
    expect(await end('one')).toMatchObject({ state: 'succeeded' })
    expect(ran).toEqual(['provision 1.0.0'])
  })

  it('of a service that nobody ever offered is unknown', async () => {
    const { client } = await startWithPg()
    const { status, body } = await client.provision('late', idsOf('dh', 'nothing'), incomplete)
    expect({ status, error: body.error }).toEqual({ status: 400, error: 'UnknownService' })
  })
})

async function clockUntilBound(
  client: Awaited<ReturnType<typeof startWorld>>['client'],
  instanceId: string,
  bindingId: string,
): Promise<void> {
  for (let turn = 0; turn < 500; turn += 1) {
    const { body } = await client.lastBindingOperation(instanceId, bindingId)
    if (body.state === 'succeeded') return
    await new Promise(resolve => setImmediate(resolve))
  }
  throw new Error('the bind does not end')
}
