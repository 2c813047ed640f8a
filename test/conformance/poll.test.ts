import { expect } from 'vitest'
import { defineService, TerminalError } from '../../src/index.ts'
import { conformance, requirement } from './harness.ts'
import { bare, bareService, incomplete, provisioned } from './helpers.ts'
import { full, org } from './services.ts'

const path = '/v2/service_instances/i/last_operation'
const asked = { ...full, ...org }
const change = { service_id: 'full', parameters: { size: 2 } }
const broken = (message: string) => new TerminalError(message, { instanceUsable: false, updateRepeatable: false })

/** Says nothing where it could say something: an empty description, twice, and an empty error. */
const mute = defineService({
  ...bareService(),
  async provision(ctx) {
    ctx.describe('')
    if (ctx.operation.attempt === 1) return ctx.wait('5s', '')
    throw new TerminalError('')
  },
})

const slow = defineService({
  ...bareService(),
  async provision(ctx) {
    return ctx.operation.attempt === 1 ? ctx.wait('30s', 'The server is starting.') : undefined
  },
})

conformance('Polling an instance', () => {
  requirement(['POLL-07', 'POLL-14'], 'a poll is 200 with in progress, succeeded or failed', async t => {
    const release = t.backend.hold('provision')
    await t.client.provision('i', asked, incomplete)
    const running = await t.client.lastOperation('i')
    expect([running.status, running.body.state]).toEqual([200, 'in progress'])
    release()
    await t.clock.advance(1_000)
    const done = await t.client.lastOperation('i')
    expect([done.status, done.body]).toEqual([200, { state: 'succeeded' }])
    t.backend.failNext('update', new TerminalError('No.'))
    await t.client.update('i', change, incomplete)
    await t.clock.advance(1_000)
    const failed = await t.client.lastOperation('i')
    expect([failed.status, failed.body]).toEqual([200, { state: 'failed', description: 'No.' }])
  })

  requirement('POLL-08', 'a malformed poll is 400 and disturbs nothing', async t => {
    const release = t.backend.hold('provision')
    await t.client.provision('i', asked, incomplete)
    for (const query of ['operation=%zz', 'operation=a&operation=b', 'plan_id=&plan_id=a']) {
      const answer = await t.request('GET', `${path}?${query}`)
      expect(answer).toMatchObject({ status: 400, body: { error: 'MalformedRequest' } })
      expect(answer.body.description).toMatch(/operation|service_id|plan_id|percent-escape/)
    }
    release()
    expect(await t.ended('i')).toMatchObject({ state: 'succeeded' })
  })

  requirement('POLL-09', 'a poll of an unknown instance is 404', async t => {
    await provisioned(t, 'other')
    for (const query of [{}, { operation: 'anything' }, full])
      expect(await t.client.lastOperation('i', query)).toMatchObject({
        status: 404,
        body: { error: 'InstanceNotFound' },
      })
  })

  requirement(
    'POLL-10',
    '410 is the answer to a poll of a deletion, and of nothing else',
    async t => {
      const created = await t.client.provision('i', asked, incomplete)
      expect(await t.ended('i')).toMatchObject({ state: 'succeeded' })
      t.backend.failNext('update', new TerminalError('No.'))
      await t.client.update('i', change, incomplete)
      expect(await t.ended('i')).toMatchObject({ state: 'failed' })
      const release = t.backend.hold('deprovision')
      const deleted = await t.client.deprovision('i', full, incomplete)
      expect((await t.client.lastOperation('i')).body.state).toBe('in progress')
      release()
      await t.clock.advance(1_000)
      for (const query of [{}, { operation: deleted.body.operation ?? '' }])
        expect(await t.client.lastOperation('i', query)).toMatchObject({ status: 410, body: { error: 'InstanceGone' } })
      expect(await t.ended('i', undefined, created.body.operation ?? '')).toMatchObject({ state: 'succeeded' })
    },
    { settings: { osb: { pollAfterDelete: 'gone' } } },
  )

  requirement(
    'POLL-17',
    'a description is never empty: the broker has words of its own',
    async t => {
      await t.client.provision('i', { ...bare, ...org }, incomplete)
      await t.clock.advance(0)
      expect((await t.client.lastOperation('i')).body).toEqual({
        state: 'in progress',
        description: 'the provision waits to go on',
      })
      const ended = await t.ended('i')
      expect(ended.state).toBe('failed')
      expect(ended.description).toMatch(/./)
    },
    { services: [mute] },
  )

  requirement('POLL-18', 'instance_usable comes with a failed update or deprovision only', async t => {
    t.backend.failNext('provision', broken('No room.'))
    await t.client.provision('i', asked, incomplete)
    expect(await t.ended('i')).toEqual({ state: 'failed', description: 'No room.' })
    await provisioned(t, 'j')
    t.backend.failNext('update', new TerminalError('Not now.'))
    await t.client.update('j', change, incomplete)
    expect(await t.ended('j')).toEqual({ state: 'failed', description: 'Not now.' })
    t.backend.failNext('update', broken('It broke.'))
    await t.client.update('j', change, incomplete)
    expect(await t.ended('j')).toMatchObject({ state: 'failed', instance_usable: false })
    t.backend.failNext('deprovision', broken('It sticks.'))
    await t.client.deprovision('j', full, incomplete)
    expect(await t.ended('j')).toMatchObject({ state: 'failed', instance_usable: false })
    await t.client.update('j', change, incomplete)
    expect(Object.keys(await t.ended('j'))).not.toContain('instance_usable')
  })

  requirement('POLL-19', 'update_repeatable comes with a failed update only', async t => {
    t.backend.failNext('provision', broken('No room.'))
    await t.client.provision('i', asked, incomplete)
    expect(await t.ended('i')).toEqual({ state: 'failed', description: 'No room.' })
    await provisioned(t, 'j')
    t.backend.failNext('update', broken('Never.'))
    await t.client.update('j', change, incomplete)
    expect(await t.ended('j')).toMatchObject({ state: 'failed', update_repeatable: false })
    t.backend.failNext('deprovision', broken('It sticks.'))
    await t.client.deprovision('j', full, incomplete)
    const deletion = await t.ended('j')
    expect(deletion.state).toBe('failed')
    expect(Object.keys(deletion)).not.toContain('update_repeatable')
  })

  requirement(
    'POLL-20',
    'Retry-After says in whole seconds when there can be news',
    async t => {
      await t.client.provision('i', { ...bare, ...org }, incomplete)
      await t.clock.advance(0)
      expect((await t.client.lastOperation('i')).headers['retry-after']).toBe('30')
      await t.clock.advance(10_000)
      const later = await t.client.lastOperation('i')
      expect(later.headers['retry-after']).toBe('20')
      expect(later.body).toEqual({ state: 'in progress', description: 'The server is starting.' })
      expect(await t.ended('i')).toMatchObject({ state: 'succeeded' })
      expect((await t.client.lastOperation('i')).headers['retry-after']).toBeUndefined()
    },
    { services: [slow] },
  )

  requirement(
    'POLL-22',
    'a result is remembered, that of a deletion for as long as it was agreed',
    async t => {
      const created = await t.client.provision('i', asked, incomplete)
      for (let poll = 0; poll < 3; poll++) {
        expect(await t.ended('i')).toMatchObject({ state: 'succeeded' })
        await t.clock.advance(60_000)
      }
      t.backend.failNext('update', new TerminalError('No.'))
      const updated = await t.client.update('i', change, incomplete)
      for (let poll = 0; poll < 3; poll++) expect(await t.ended('i')).toMatchObject({ state: 'failed' })
      await t.client.deprovision('i', full, incomplete)
      for (let poll = 0; poll < 3; poll++) expect(await t.ended('i')).toMatchObject({ state: 'succeeded' })
      await t.clock.advance(60_000)
      expect(await t.ended('i')).toMatchObject({ state: 'succeeded' })
      expect(await t.ended('i', undefined, created.body.operation ?? '')).toMatchObject({ state: 'succeeded' })
      expect(await t.ended('i', undefined, updated.body.operation ?? '')).toMatchObject({ state: 'failed' })
      await t.clock.advance(60_000)
      expect((await t.client.lastOperation('i')).status).toBe(410)
    },
    { settings: { osb: { rememberDeleted: 100_000 } } },
  )

  requirement('POLL-23', 'each operation answers for itself; without a known one the latest answers', async t => {
    const created = await t.client.provision('i', asked, incomplete)
    expect(created.body.operation).toEqual(expect.any(String))
    await t.ended('i')
    const release = t.backend.hold('update')
    const updated = await t.client.update('i', change, incomplete)
    const state = async (query: { operation?: string }) => (await t.client.lastOperation('i', query)).body.state
    expect(await state({})).toBe('in progress')
    expect(await state({ operation: updated.body.operation ?? '' })).toBe('in progress')
    expect(await state({ operation: 'provision' })).toBe('in progress')
    expect(await state({ operation: created.body.operation ?? '' })).toBe('succeeded')
    const second = await t.client.update('i', { service_id: 'full', parameters: { size: 3 } }, incomplete)
    expect(second).toMatchObject({ status: 422, body: { error: 'ConcurrencyError' } })
    release()
    expect(await t.ended('i')).toMatchObject({ state: 'succeeded' })
  })

  requirement('POLL-24', 'a poll of what ended synchronously says succeeded', async t => {
    await provisioned(t)
    expect(await t.client.lastOperation('i')).toMatchObject({ status: 200, body: { state: 'succeeded' } })
    expect((await t.client.update('i', change)).status).toBe(200)
    expect(await t.client.lastOperation('i', full)).toMatchObject({ status: 200, body: { state: 'succeeded' } })
    expect((await t.client.deprovision('i', full)).status).toBe(200)
    expect(await t.client.lastOperation('i')).toMatchObject({ status: 200, body: { state: 'succeeded' } })
  })
})
