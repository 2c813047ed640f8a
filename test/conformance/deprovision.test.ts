import { expect } from 'vitest'
import { TerminalError } from '../../src/index.ts'
import { conformance, requirement } from './harness.ts'
import { another, answered, bound, incomplete, provisioned } from './helpers.ts'
import { createServices, full, org } from './services.ts'

const path = '/v2/service_instances/i'
const asked = { ...full, ...org }
const busy = { status: 422, body: { error: 'ConcurrencyError' } }

conformance('Deprovisioning', () => {
  requirement(['DEP-01', 'DEP-07'], 'a synchronous DELETE removes the instance and answers 200 {}', async t => {
    await provisioned(t)
    await provisioned(t, 'j')
    const { status, text } = await t.client.deprovision('i', full)
    expect([status, text]).toEqual([200, '{}'])
    expect([...t.backend.things]).toEqual(['instance:j'])
    expect((await t.client.fetchInstance('i')).status).toBe(404)
  })

  requirement('DEP-01', 'what a failed bind may have left goes with the instance', async t => {
    await provisioned(t)
    t.backend.failNext('bind', new TerminalError('Half done.'))
    expect((await t.client.bind('i', 'b', full)).status).toBe(500)
    expect((await t.client.deprovision('i', full)).status).toBe(200)
    expect(t.backend.done).toEqual(['provision i', 'unbind b', 'deprovision i'])
    expect([...t.backend.things]).toEqual([])
  })

  requirement('DEP-03', 'an instance with bindings is kept as it is, and the refusal says how many', async t => {
    await provisioned(t)
    await bound(t, 'i', 'b')
    await bound(t, 'i', 'c')
    for (const options of [{}, incomplete]) {
      const { status, body } = await t.client.deprovision('i', full, options)
      expect([status, body.error]).toEqual([422, 'BindingsExist'])
      expect(body.description).toContain('2')
    }
    expect((await t.client.fetchInstance('i')).status).toBe(200)
    expect((await t.client.fetchBinding('i', 'b')).body.credentials).toBeDefined()
    expect([...t.backend.things]).toEqual(['instance:i', 'binding:b', 'binding:c'])
    for (const binding of ['b', 'c']) expect((await t.client.unbind('i', binding, full)).status).toBe(200)
    expect((await t.client.deprovision('i', full)).status).toBe(200)
  })

  requirement(
    'DEP-03',
    'with cascadeDelete the bindings go first, and no credentials stay behind',
    async t => {
      await provisioned(t)
      await bound(t, 'i', 'b')
      await bound(t, 'i', 'c')
      expect((await t.client.deprovision('i', full)).status).toBe(200)
      expect([...t.backend.things]).toEqual([])
      expect(t.backend.done.at(-1)).toBe('deprovision i')
      for (const binding of ['b', 'c']) {
        expect((await t.client.fetchBinding('i', binding)).status).toBe(404)
        expect((await t.client.unbind('i', binding, full)).status).toBe(410)
      }
    },
    { settings: { osb: { cascadeDelete: true } } },
  )

  requirement(
    ['DEP-04', 'DEP-05'],
    'a DELETE during the creation halts it, cleans up, and is what the polls show',
    async t => {
      const release = t.backend.hold('provision')
      const created = await t.client.provision('i', asked, incomplete)
      await t.clock.advance(0)
      const deleted = await t.client.deprovision('i', full, incomplete)
      expect(deleted.status).toBe(202)
      expect(deleted.body.operation).not.toBe(created.body.operation)
      expect((await t.client.lastOperation('i')).body.state).toBe('in progress')
      expect(await t.ended('i', undefined, created.body.operation ?? '')).toMatchObject({ state: 'failed' })
      expect(await t.ended('i')).toMatchObject({ state: 'succeeded' })
      release()
      await t.clock.advance(120_000)
      expect([...t.backend.things]).toEqual([])
      expect(t.backend.done).toContain('deprovision i')
      expect(t.backend.done).not.toContain('provision i')
      expect(await t.ended('i')).toMatchObject({ state: 'succeeded' })
      expect((await t.client.deprovision('i', full)).status).toBe(410)
    },
  )

  requirement('DEP-05', 'a synchronous DELETE during the creation lets its poll say failed', async t => {
    const release = t.backend.hold('provision')
    const created = await t.client.provision('i', asked, incomplete)
    await t.clock.advance(0)
    const deleted = await answered(t, t.client.deprovision('i', full))
    release()
    expect([deleted.status, deleted.text]).toEqual([200, '{}'])
    expect(await t.ended('i', undefined, created.body.operation ?? '')).toMatchObject({ state: 'failed' })
    expect([...t.backend.things]).toEqual([])
  })

  requirement(['DEP-08', 'DEP-15'], 'a repeat while it runs is 202 with the first operation', async t => {
    await provisioned(t)
    const release = t.backend.hold('deprovision')
    const first = await t.client.deprovision('i', full, incomplete)
    const again = await t.client.deprovision('i', full, incomplete)
    expect([first.status, again.status]).toEqual([202, 202])
    expect(first.body).toEqual({ operation: expect.stringMatching(/^.{1,10000}$/) })
    expect(again.body).toEqual(first.body)
    expect([...t.backend.things]).toEqual(['instance:i'])
    release()
    expect(await t.ended('i', undefined, first.body.operation ?? '')).toMatchObject({ state: 'succeeded' })
    expect(t.backend.done).toEqual(['provision i', 'deprovision i'])
  })

  requirement('DEP-09', 'what is malformed, missing or wrong is 400 and deletes nothing', async t => {
    await provisioned(t)
    for (const query of [
      '',
      '?service_id=full',
      '?plan_id=full-small',
      '?service_id=&plan_id=full-small',
      '?service_id=full&plan_id=',
      '?service_id=full&service_id=full&plan_id=full-small',
      '?service_id=%zz&plan_id=full-small',
      '?service_id=always-sync&plan_id=always-sync-plan',
      '?service_id=nobody&plan_id=full-small',
    ])
      expect(await t.request('DELETE', path + query)).toMatchObject({
        status: 400,
        body: { error: 'MalformedRequest' },
      })
    expect((await t.request('DELETE', `${path}?service_id=full&plan_id=nobody`)).body.error).toBe('UnknownPlan')
    expect((await t.client.fetchInstance('i')).status).toBe(200)
    expect(t.backend.done).toEqual(['provision i'])
  })

  requirement('DEP-10', 'an instance that is not there, or not any more, is 410', async t => {
    const gone = { status: 410, body: { error: 'InstanceGone' } }
    for (const options of [{}, incomplete]) expect(await t.client.deprovision('i', full, options)).toMatchObject(gone)
    await provisioned(t)
    expect((await t.client.deprovision('i', full)).status).toBe(200)
    for (const options of [{}, incomplete]) expect(await t.client.deprovision('i', full, options)).toMatchObject(gone)
    expect(t.backend.done).toEqual(['provision i', 'deprovision i'])
  })

  requirement('DEP-11', 'a service that is always asynchronous needs accepts_incomplete=true', async t => {
    const ids = { service_id: 'always-async', plan_id: 'always-async-plan' }
    await t.client.provision('i', { ...ids, ...org }, incomplete)
    await t.ended('i')
    for (const query of [{}, { accepts_incomplete: 'false' }])
      expect(await t.client.deprovision('i', ids, { query })).toMatchObject({
        status: 422,
        body: { error: 'AsyncRequired' },
      })
    expect((await t.client.fetchInstance('i')).status).toBe(200)
    expect((await t.client.deprovision('i', ids, incomplete)).status).toBe(202)
    expect(await t.ended('i')).toMatchObject({ state: 'succeeded' })
    expect([...t.backend.things]).toEqual([])
  })

  requirement('DEP-12', 'an operation on one of its bindings holds the instance', async t => {
    await provisioned(t)
    for (const action of ['bind', 'unbind'] as const) {
      const release = t.backend.hold(action)
      const begun =
        action === 'bind' ? t.client.bind('i', 'b', full, incomplete) : t.client.unbind('i', 'b', full, incomplete)
      expect((await begun).status).toBe(202)
      expect(await t.client.deprovision('i', full, incomplete)).toMatchObject(busy)
      expect([...t.backend.things]).toContain('instance:i')
      release()
      expect(await t.ended('i', 'b')).toMatchObject({ state: 'succeeded' })
    }
    expect((await t.client.deprovision('i', full)).status).toBe(200)
  })

  requirement('DEP-16', 'a failed deprovision tells instance_usable and never update_repeatable', async t => {
    const stuck = () => new TerminalError('It sticks.', { instanceUsable: false, updateRepeatable: false })
    await provisioned(t)
    t.backend.failNext('deprovision', stuck())
    const sync = await t.client.deprovision('i', full)
    expect([sync.status, sync.body]).toEqual([
      500,
      { error: 'ActionFailed', description: 'It sticks.', instance_usable: false },
    ])
    t.backend.failNext('deprovision', stuck())
    await t.client.deprovision('i', full, incomplete)
    expect(await t.ended('i')).toEqual({ state: 'failed', description: 'It sticks.', instance_usable: false })
    t.backend.failNext('deprovision', new TerminalError('It sticks.'))
    const usable = await t.client.deprovision('i', full)
    expect(usable.body).toEqual({ error: 'ActionFailed', description: 'It sticks.' })
  })

  requirement('DEP-17', 'a deprovision can be repeated until it succeeds', async t => {
    await provisioned(t)
    for (let attempt = 0; attempt < 3; attempt++) {
      t.backend.failNext('deprovision', new TerminalError('Not yet.'))
      expect((await t.client.deprovision('i', full)).status).toBe(500)
      expect([...t.backend.things]).toEqual(['instance:i'])
    }
    expect((await t.client.deprovision('i', full)).status).toBe(200)
    expect([...t.backend.things]).toEqual([])
  })

  requirement('DEP-17', 'a creation that failed can be deleted', async t => {
    t.backend.failNext('provision', new TerminalError('No.'))
    expect((await t.client.provision('i', asked)).status).toBe(500)
    expect((await t.client.deprovision('i', full)).status).toBe(200)
    expect(t.backend.done).toEqual(['deprovision i'])
    expect((await t.client.deprovision('i', full)).status).toBe(410)
  })

  requirement('DEP-17', 'an instance whose plan has left the catalog can be deleted', async t => {
    await provisioned(t)
    await t.stop()
    const services = createServices(t.backend).map(service =>
      service.id === 'full'
        ? { ...service, plans: service.plans?.filter(({ id }) => id !== 'full-small') ?? [] }
        : service,
    )
    const later = await another(t, { services, store: t.store, clock: t.clock })
    expect((await later.client.provision('j', asked)).status).toBe(400)
    const { status, text } = await later.client.deprovision('i', full)
    expect([status, text]).toEqual([200, '{}'])
    expect([...t.backend.things]).toEqual([])
  })
})
