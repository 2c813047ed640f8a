import { expect } from 'vitest'
import { TerminalError } from '../../src/index.ts'
import { conformance, requirement } from './harness.ts'
import { answered, bound, incomplete, provisioned } from './helpers.ts'
import { full, org } from './services.ts'

const path = '/v2/service_instances/i/service_bindings/b'
const gone = { status: 410, body: { error: 'BindingGone' } }

conformance('Unbinding', () => {
  requirement(['UNB-01', 'UNB-05'], 'a synchronous DELETE removes the binding, and it alone, with 200 {}', async t => {
    await provisioned(t)
    await bound(t, 'i', 'b')
    await bound(t, 'i', 'c')
    const { status, text } = await t.client.unbind('i', 'b', full)
    expect([status, text]).toEqual([200, '{}'])
    expect([...t.backend.things]).toEqual(['instance:i', 'binding:c'])
    expect((await t.client.fetchBinding('i', 'b')).status).toBe(404)
    expect(await t.store.binding('i', 'b')).toMatchObject({ result: {}, state: {}, parameters: {} })
    expect((await t.client.fetchBinding('i', 'c')).body.credentials).toMatchObject({ username: 'c' })
  })

  requirement(['UNB-02', 'UNB-03'], 'a DELETE during the bind halts it and is what the polls show', async t => {
    await provisioned(t)
    const release = t.backend.hold('bind')
    const created = await t.client.bind('i', 'b', full, incomplete)
    await t.clock.advance(0)
    const deleted = await t.client.unbind('i', 'b', full, incomplete)
    expect(deleted.status).toBe(202)
    expect(deleted.body.operation).not.toBe(created.body.operation)
    expect((await t.client.lastBindingOperation('i', 'b')).body.state).toBe('in progress')
    expect(await t.ended('i', 'b', created.body.operation ?? '')).toMatchObject({ state: 'failed' })
    expect(await t.ended('i', 'b')).toMatchObject({ state: 'succeeded' })
    release()
    await t.clock.advance(120_000)
    expect([...t.backend.things]).toEqual(['instance:i'])
    expect(t.backend.done).toContain('unbind b')
    expect(t.backend.done).not.toContain('bind b')
    expect(await t.client.unbind('i', 'b', full)).toMatchObject(gone)
  })

  requirement('UNB-03', 'a synchronous DELETE during the bind lets its poll say failed', async t => {
    await provisioned(t)
    const release = t.backend.hold('bind')
    const created = await t.client.bind('i', 'b', full, incomplete)
    await t.clock.advance(0)
    const deleted = await answered(t, t.client.unbind('i', 'b', full))
    release()
    expect([deleted.status, deleted.text]).toEqual([200, '{}'])
    expect(await t.ended('i', 'b', created.body.operation ?? '')).toMatchObject({ state: 'failed' })
    expect([...t.backend.things]).toEqual(['instance:i'])
  })

  requirement(['UNB-06', 'UNB-12'], 'a repeat while it runs is 202 with the first operation', async t => {
    await provisioned(t)
    await bound(t)
    const release = t.backend.hold('unbind')
    const first = await t.client.unbind('i', 'b', full, incomplete)
    const again = await t.client.unbind('i', 'b', full, incomplete)
    expect([first.status, again.status]).toEqual([202, 202])
    expect(first.body).toEqual({ operation: expect.stringMatching(/^.{1,10000}$/) })
    expect(again.body).toEqual(first.body)
    release()
    expect(await t.ended('i', 'b', first.body.operation ?? '')).toMatchObject({ state: 'succeeded' })
    expect(t.backend.done).toEqual(['provision i', 'bind b', 'unbind b'])
  })

  requirement('UNB-07', 'what is malformed, missing or wrong is 400 and deletes nothing', async t => {
    await provisioned(t)
    await bound(t)
    for (const query of [
      '',
      '?service_id=full',
      '?plan_id=full-small',
      '?service_id=&plan_id=full-small',
      '?service_id=full&plan_id=',
      '?service_id=full&plan_id=full-small&plan_id=full-large',
      '?service_id=%zz&plan_id=full-small',
      '?service_id=always-sync&plan_id=always-sync-plan',
    ])
      expect(await t.request('DELETE', path + query)).toMatchObject({
        status: 400,
        body: { error: 'MalformedRequest' },
      })
    expect((await t.request('DELETE', `${path}?service_id=nobody&plan_id=full-small`)).status).toBe(400)
    expect((await t.request('DELETE', `${path}?service_id=full&plan_id=nobody`)).status).toBe(400)
    expect((await t.client.fetchBinding('i', 'b')).status).toBe(200)
    expect(t.backend.done).toEqual(['provision i', 'bind b'])
  })

  requirement('UNB-08', 'a binding that is not there is 410 with a JSON object, whatever else is missing', async t => {
    expect(await t.client.unbind('i', 'b', full)).toMatchObject(gone)
    await provisioned(t)
    await provisioned(t, 'j')
    await bound(t, 'j', 'b')
    expect(await t.client.unbind('i', 'b', full, incomplete)).toMatchObject(gone)
    expect(await t.request('DELETE', path)).toMatchObject(gone)
    expect((await t.client.fetchBinding('j', 'b')).status).toBe(200)
    expect((await t.client.unbind('j', 'b', full)).status).toBe(200)
    expect(await t.client.unbind('j', 'b', full)).toMatchObject(gone)
  })

  requirement('UNB-09', 'a service that is always asynchronous needs accepts_incomplete=true', async t => {
    const ids = { service_id: 'always-async', plan_id: 'always-async-plan' }
    await t.client.provision('i', { ...ids, ...org }, incomplete)
    await t.ended('i')
    await t.client.bind('i', 'b', ids, incomplete)
    await t.ended('i', 'b')
    for (const query of [{}, { accepts_incomplete: 'false' }])
      expect(await t.client.unbind('i', 'b', ids, { query })).toMatchObject({
        status: 422,
        body: { error: 'AsyncRequired' },
      })
    expect((await t.client.fetchBinding('i', 'b')).status).toBe(200)
    expect((await t.client.unbind('i', 'b', ids, incomplete)).status).toBe(202)
    expect(await t.ended('i', 'b')).toMatchObject({ state: 'succeeded' })
  })

  requirement('UNB-10', 'an operation on the instance holds its bindings', async t => {
    await provisioned(t)
    await bound(t)
    const release = t.backend.hold('update')
    await t.client.update('i', { service_id: 'full', parameters: { size: 2 } }, incomplete)
    for (const options of [{}, incomplete])
      expect(await t.client.unbind('i', 'b', full, options)).toMatchObject({
        status: 422,
        body: { error: 'ConcurrencyError' },
      })
    expect([...t.backend.things]).toContain('binding:b')
    release()
    await t.ended('i')
    expect((await t.client.unbind('i', 'b', full)).status).toBe(200)
  })

  requirement('UNB-13', 'the plan of the instance will do, the one of the bind too', async t => {
    await provisioned(t)
    await bound(t, 'i', 'b')
    await bound(t, 'i', 'c')
    expect((await t.client.update('i', { service_id: 'full', plan_id: 'full-large' })).status).toBe(200)
    expect((await t.client.unbind('i', 'b', { service_id: 'full', plan_id: 'full-large' })).status).toBe(200)
    expect((await t.client.unbind('i', 'c', full)).status).toBe(200)
    expect([...t.backend.things]).toEqual(['instance:i'])
  })

  requirement('UNB-01', 'an unbind that failed can be repeated until nothing is left', async t => {
    await provisioned(t)
    await bound(t)
    t.backend.failNext('unbind', new TerminalError('Not yet.'))
    expect((await t.client.unbind('i', 'b', full)).status).toBe(500)
    expect([...t.backend.things]).toContain('binding:b')
    expect((await t.client.unbind('i', 'b', full)).status).toBe(200)
    expect([...t.backend.things]).toEqual(['instance:i'])
  })
})
