import { describe, expect, it } from 'vitest'
import type { Service } from '../../src/index.ts'
import { createWorld, ids, incomplete, seconds, serviceOf } from '../engine/world.ts'
import { adminOf } from './admin.ts'

const message = 'Until 9 pm nothing new is made.'

async function boot(service: Partial<Service> = {}) {
  const plan = (id: string) => ({ id, name: id, description: 'A plan' })
  const own = serviceOf({
    bindable: true,
    bind: async () => ({ credentials: {} }),
    async unbind() {},
    async update() {},
    plans: [plan('plan'), plan('other-plan')],
    ...service,
  })
  const other = serviceOf({ id: 'other', name: 'other', plans: [plan('of-other')] })
  const world = createWorld({ service: {}, services: [own, other] })
  const [broker, second] = [await world.boot(), await world.boot()]
  await broker.provision('i')
  await world.clock.advance(seconds(2))
  const admin = adminOf(broker)
  const ask = {
    provision: (of = broker) => of.client.provision('new', ids, incomplete),
    update: (of = broker) => of.client.update('i', { service_id: 'service', parameters: { a: 1 } }, incomplete),
    bind: (of = broker) => of.client.bind('i', 'b', ids, incomplete),
    unbind: (of = broker) => of.client.unbind('i', 'bound', ids, incomplete),
    deprovision: (of = broker) => of.client.deprovision('i', ids, incomplete),
  }
  return { ...world, broker, other: second, admin, ask }
}

describe('a gate', () => {
  it.each(['provision', 'update', 'bind', 'deprovision'] as const)(
    'refuses a new %s, on every replica',
    async action => {
      const { admin, ask, other, clock } = await boot()
      const { status, body } = await admin.closeGate(action, { message, reason: 'the backend is moved' })
      expect({ status, body }).toMatchObject({
        status: 200,
        body: { action, message, by: 'anonymous', reason: 'the backend is moved' },
      })
      await clock.advance(seconds(1))
      for (const replica of [undefined, other])
        expect(await ask[action](replica)).toMatchObject({
          status: 422,
          body: { error: 'ActionRefused', description: message },
        })
      expect((await admin.gates()).body.gates).toMatchObject([{ action, since: expect.any(String) }])
      expect((await admin.openGate(action)).status).toBe(200)
      await clock.advance(seconds(1))
      expect((await ask[action](other)).status).toBe(202)
      expect(await admin.openGate(action)).toMatchObject({ status: 404, body: { error: 'UnknownGate' } })
    },
  )

  it('stands in the history: who has closed, changed and opened it, and why', async () => {
    const { admin, ledger } = await boot()
    const place = { service_id: 'service', plan_id: 'plan' }
    await admin.closeGate('provision', { ...place, message, reason: 'the backend is moved' })
    await admin.closeGate('provision', { ...place, message: 'Until 10 pm.', retry_after: 600 })
    await admin.openGate('provision', { ...place, reason: 'it is moved' })
    expect((await admin.openGate('provision', place)).status).toBe(404)
    const first = { action: 'provision', ...place, message }
    const second = { action: 'provision', ...place, message: 'Until 10 pm.', retry_after: 600 }
    const who = { type: 'acted', instanceId: '', by: 'anonymous' }
    expect(await ledger.history('')).toMatchObject([
      { ...who, verb: 'close-gate', reason: 'the backend is moved', before: {}, after: first },
      { ...who, verb: 'close-gate', before: first, after: second },
      { ...who, verb: 'open-gate', reason: 'it is moved', before: second, after: {} },
    ])
    const { items = [] } = (await admin.history({ verb: 'open-gate' })).body
    expect(items).toMatchObject([{ by: 'anonymous', reason: 'it is moved', instance_id: '' }])
  })

  it('asks platforms to come again where it says when', async () => {
    const { admin, ask } = await boot()
    await admin.closeGate('provision', { message, retry_after: 600 })
    const refused = await ask.provision()
    expect(refused).toMatchObject({ status: 503, body: { error: 'Maintenance', description: message } })
    expect(refused.headers['retry-after']).toBe('600')
  })

  it('for all that is new lets deletions through', async () => {
    const { admin, ask, broker, clock } = await boot()
    await broker.bind('i', 'bound')
    await clock.advance(seconds(2))
    await admin.closeGate('new', { message })
    for (const action of ['provision', 'update', 'bind'] as const) expect((await ask[action]()).status).toBe(422)
    for (const action of ['unbind', 'deprovision'] as const) {
      expect((await ask[action]()).status).toBe(202)
      await clock.advance(seconds(2))
    }
  })

  it.each([
    [{ service_id: 'service' }, 422],
    [{ service_id: 'service', plan_id: 'plan' }, 422],
    [{ service_id: 'other' }, 202],
    [{ service_id: 'service', plan_id: 'other-plan' }, 202],
  ])('of %j', async (place, status) => {
    const { admin, ask } = await boot()
    await admin.closeGate('provision', { message, ...place })
    expect((await ask.provision()).status).toBe(status)
    expect((await admin.openGate('provision')).status).toBe(404)
    expect((await admin.openGate('provision', place)).status).toBe(200)
  })

  it.each([
    [{ service_id: 'nobody' }, 'UnknownService'],
    [{ service_id: 'service', plan_id: 'nobody' }, 'UnknownPlan'],
    [{ service_id: 'service', plan_id: 'of-other' }, 'UnknownPlan'],
  ])('of %j would protect nothing: it is refused', async (place, error) => {
    const { admin, ledger } = await boot()
    expect(await admin.closeGate('provision', { message, ...place })).toMatchObject({ status: 400, body: { error } })
    expect([(await admin.gates()).body.gates, await ledger.history('')]).toEqual([[], []])
  })

  it('lets what was accepted go on, be repeated and be helped by operators', async () => {
    const { admin, broker, clock, ask } = await boot({
      async provision() {
        throw new Error('later')
      },
    })
    const operation = String((await ask.provision()).body.operation)
    await clock.advance(seconds(1))
    for (const action of ['provision', 'deprovision']) await admin.closeGate(action, { message })
    expect(await ask.provision()).toMatchObject({ status: 202, body: { operation } })
    expect(await broker.poll('new', operation)).toMatchObject({ state: 'in progress' })
    expect((await admin.actOnOperation(operation, 'cancel')).status).toBe(202)
  })

  it('that is wrong is told in the names of the wire', async () => {
    const { admin } = await boot()
    const told = async (body: object) =>
      (await admin.closeGate('bind', { message, ...body })).body.detail?.replace(/^.*?malformed: /, '')
    expect(await told({ retry_after: -1 })).toMatch(/^retry_after: found -1; /)
    expect(await told({ retryAfter: -1 })).toMatch(/^retry_after: found -1; /)
    expect(await told({ odd: 1 })).toMatch(
      /^odd: is not known here; known here: service_id, plan_id, message, retry_after, /,
    )
    expect(await told({ oddOne: 1 })).toMatch(/^oddOne: is not known here/)
    expect(await told({ retry_aftr: 1 })).toBe('retry_aftr: is not known here; did you mean retry_after?.')
  })

  it.each([
    ['dance', { message }],
    ['provision', {}],
    ['provision', { message, plan_id: 'plan' }],
    ['provision', { message, retry_after: 0 }],
    ['provision', { message, odd: 1 }],
  ])('%s %j is refused', async (action, body) => {
    const { admin } = await boot()
    expect((await admin.closeGate(action, body)).status).toBe(400)
  })
})
