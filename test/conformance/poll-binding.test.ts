import { expect } from 'vitest'
import { defineService, TerminalError } from '../../src/index.ts'
import { conformance, requirement } from './harness.ts'
import { bare, bareService, bound, incomplete, provisioned } from './helpers.ts'
import { full } from './services.ts'

const path = '/v2/service_instances/i/service_bindings/b/last_operation'

const slow = defineService({
  ...bareService({ bindable: true }),
  async bind(ctx) {
    ctx.describe('')
    if (ctx.operation.attempt === 1) return ctx.wait('30s', '')
    if (ctx.operation.attempt === 2) return ctx.wait('5s', 'The role is being made.')
    throw new TerminalError('')
  },
  async unbind() {},
})

conformance('Polling a binding', () => {
  requirement(['BPOLL-07', 'BPOLL-13'], 'a poll is 200 with in progress, succeeded or failed', async t => {
    await provisioned(t)
    const release = t.backend.hold('bind')
    await t.client.bind('i', 'b', full, incomplete)
    const running = await t.client.lastBindingOperation('i', 'b')
    expect([running.status, running.body.state]).toEqual([200, 'in progress'])
    release()
    await t.clock.advance(1_000)
    const done = await t.client.lastBindingOperation('i', 'b')
    expect([done.status, done.body]).toEqual([200, { state: 'succeeded' }])
    t.backend.failNext('unbind', new TerminalError('No.'))
    await t.client.unbind('i', 'b', full, incomplete)
    await t.clock.advance(1_000)
    const failed = await t.client.lastBindingOperation('i', 'b')
    expect([failed.status, failed.body]).toEqual([200, { state: 'failed', description: 'No.' }])
  })

  requirement('BPOLL-06', 'each operation answers for itself; without a known one the latest answers', async t => {
    await provisioned(t)
    const created = await t.client.bind('i', 'b', full, incomplete)
    expect(created.body.operation).toEqual(expect.any(String))
    await t.ended('i', 'b')
    const release = t.backend.hold('unbind')
    const deleted = await t.client.unbind('i', 'b', full, incomplete)
    const state = async (query: { operation?: string }) =>
      (await t.client.lastBindingOperation('i', 'b', query)).body.state
    expect(await state({})).toBe('in progress')
    expect(await state({ operation: deleted.body.operation ?? '' })).toBe('in progress')
    expect(await state({ operation: 'bind' })).toBe('in progress')
    expect(await state({ operation: created.body.operation ?? '' })).toBe('succeeded')
    expect(await t.client.bind('i', 'b', full, incomplete)).toMatchObject({
      status: 422,
      body: { error: 'ConcurrencyError' },
    })
    release()
    expect(await t.ended('i', 'b')).toMatchObject({ state: 'succeeded' })
  })

  requirement('BPOLL-08', 'a malformed poll is 400 and disturbs nothing', async t => {
    await provisioned(t)
    const release = t.backend.hold('bind')
    await t.client.bind('i', 'b', full, incomplete)
    for (const query of ['operation=%zz', 'operation=a&operation=b', 'plan_id=&plan_id=a'])
      expect(await t.request('GET', `${path}?${query}`)).toMatchObject({
        status: 400,
        body: { error: 'MalformedRequest' },
      })
    release()
    expect(await t.ended('i', 'b')).toMatchObject({ state: 'succeeded' })
  })

  requirement('BPOLL-09', 'a poll of an unknown binding is 404', async t => {
    const unknown = { status: 404, body: { error: 'BindingNotFound' } }
    expect(await t.client.lastBindingOperation('i', 'b')).toMatchObject(unknown)
    await provisioned(t, 'i')
    await provisioned(t, 'j')
    await bound(t, 'j', 'b')
    for (const query of [{}, { operation: 'anything' }, full])
      expect(await t.client.lastBindingOperation('i', 'b', query)).toMatchObject(unknown)
  })

  requirement(
    ['BPOLL-15', 'BPOLL-16'],
    'a description is never empty, and Retry-After says in whole seconds when there can be news',
    async t => {
      await provisioned(t, 'i', bare)
      await t.client.bind('i', 'b', bare, incomplete)
      await t.clock.advance(0)
      const first = await t.client.lastBindingOperation('i', 'b')
      expect([first.body, first.headers['retry-after']]).toEqual([
        { state: 'in progress', description: 'the bind waits to go on' },
        '30',
      ])
      await t.clock.advance(30_000)
      const second = await t.client.lastBindingOperation('i', 'b')
      expect(second.body).toEqual({ state: 'in progress', description: 'The role is being made.' })
      expect(second.headers['retry-after']).toBe('5')
      const ended = await t.ended('i', 'b')
      expect(ended.state).toBe('failed')
      expect(ended.description).toMatch(/./)
      expect((await t.client.lastBindingOperation('i', 'b')).headers['retry-after']).toBeUndefined()
    },
    { services: [slow] },
  )

  requirement(
    'BPOLL-17',
    'a final state is remembered, that of an unbind for as long as it was agreed',
    async t => {
      await provisioned(t)
      await t.client.bind('i', 'b', full, incomplete)
      for (let poll = 0; poll < 3; poll++) expect(await t.ended('i', 'b')).toMatchObject({ state: 'succeeded' })
      await t.client.unbind('i', 'b', full, incomplete)
      for (let poll = 0; poll < 3; poll++) expect(await t.ended('i', 'b')).toMatchObject({ state: 'succeeded' })
      await t.clock.advance(60_000)
      expect(await t.ended('i', 'b')).toMatchObject({ state: 'succeeded' })
      t.backend.failNext('bind', new TerminalError('No.'))
      await t.client.bind('i', 'c', full, incomplete)
      for (let poll = 0; poll < 3; poll++) expect(await t.ended('i', 'c')).toMatchObject({ state: 'failed' })
      await t.clock.advance(60_000)
      expect(await t.client.lastBindingOperation('i', 'b')).toMatchObject({
        status: 410,
        body: { error: 'BindingGone' },
      })
      expect(await t.ended('i', 'c')).toMatchObject({ state: 'failed' })
    },
    { settings: { osb: { rememberDeleted: 100_000 } } },
  )

  requirement('BPOLL-18', 'a binding can be fetched as soon as its poll says succeeded', async t => {
    await provisioned(t)
    await t.client.bind('i', 'b', full, incomplete)
    expect(await t.ended('i', 'b')).toEqual({ state: 'succeeded' })
    expect(await t.client.fetchBinding('i', 'b')).toMatchObject({
      status: 200,
      body: { credentials: { username: 'b' } },
    })
  })

  requirement('BPOLL-19', 'instance_usable and update_repeatable never come with a binding', async t => {
    const flags = { instanceUsable: false, updateRepeatable: false }
    await provisioned(t)
    t.backend.failNext('bind', new TerminalError('No bind.', flags))
    await t.client.bind('i', 'b', full, incomplete)
    expect(await t.ended('i', 'b')).toEqual({ state: 'failed', description: 'No bind.' })
    await bound(t, 'i', 'c')
    t.backend.failNext('unbind', new TerminalError('No unbind.', flags))
    await t.client.unbind('i', 'c', full, incomplete)
    expect(await t.ended('i', 'c')).toEqual({ state: 'failed', description: 'No unbind.' })
    t.backend.failNext('unbind', new TerminalError('Still not.', flags))
    const sync = await t.client.unbind('i', 'c', full)
    expect([sync.status, sync.body]).toEqual([500, { error: 'ActionFailed', description: 'Still not.' }])
  })
})
