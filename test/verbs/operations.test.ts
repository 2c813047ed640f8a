import { describe, expect, it } from 'vitest'
import type { ShownOperationBody } from '../../src/client/index.ts'
import { decideFail } from '../../src/domain/decide-verb.ts'
import { type Service, TerminalError } from '../../src/index.ts'
import type { Settings } from '../../src/settings/settings.ts'
import { createWorld, minutes, seconds } from '../engine/world.ts'
import { adminOf } from './admin.ts'

async function boot(service: Partial<Service>, settings?: Settings) {
  const bindable: Partial<Service> = { bindable: true, bind: async () => ({ credentials: {} }), async unbind() {} }
  const world = createWorld({ settings, service: { ...bindable, ...service } })
  const broker = await world.boot()
  const settle = (ms = seconds(1)) => world.clock.advance(ms)
  return { ...world, broker, admin: adminOf(broker), settle }
}

const refused = (reason: string) => ({
  status: 409,
  body: { error: 'VerbRefused', detail: expect.stringContaining(reason) },
})

describe('retry', () => {
  it('is a new operation that skips what was done, and the first one stays failed', async () => {
    const calls: string[] = []
    let broken = true
    const { broker, admin, settle, ledger } = await boot({
      async provision(ctx) {
        const name = await ctx.step('create', () => {
          calls.push('create')
          return { name: 'n' }
        })
        await ctx.step('configure', () => {
          calls.push('configure')
          if (broken) throw new TerminalError('no quota')
        })
        return { state: name }
      },
    })
    const first = await broker.provision('i')
    await settle()
    expect(await broker.poll('i', first)).toMatchObject({ state: 'failed' })
    broken = false
    const { status, body } = await admin.actOnOperation(first, 'retry', { reason: 'quota raised' })
    expect(status).toBe(202)
    expect(body).toMatchObject({ action: 'provision', retry_of: first, state: expect.stringMatching(/queued|running/) })
    await settle()
    expect(calls).toEqual(['create', 'configure', 'configure'])
    expect(await broker.poll('i', first)).toMatchObject({ state: 'failed' })
    expect(await broker.poll('i', body.id)).toMatchObject({ state: 'succeeded' })
    expect(await broker.poll('i')).toMatchObject({ state: 'succeeded' })
    expect(await ledger.instance('i')).toMatchObject({ phase: 'ready', state: { name: 'n' } })
    expect(await admin.actOnOperation(first, 'retry')).toMatchObject(refused('later operation'))
    expect(await admin.actOnOperation(body.id, 'retry')).toMatchObject(refused('succeeded'))
  })

  it.each(['update', 'deprovision', 'bind', 'unbind'] as const)('of a failed %s', async action => {
    let broken = true
    const act = async () => {
      if (broken) throw new TerminalError('not now')
      return action === 'bind' ? { credentials: {} } : {}
    }
    const { broker, admin, settle } = await boot({ [action]: act })
    await broker.provision('i')
    await settle()
    const isBinding = action === 'bind' || action === 'unbind'
    if (action === 'unbind') await broker.bind('i', 'b')
    await settle()
    const failed = isBinding
      ? await broker[action]('i', 'b')
      : action === 'update'
        ? await broker.update('i', { size: '2' })
        : await broker.deprovision('i')
    await settle()
    broken = false
    const { status, body } = await admin.actOnOperation(failed, 'retry')
    expect({ status, action: body.action }).toEqual({ status: 202, action })
    await settle()
    const poll = isBinding ? broker.pollBinding('i', 'b', body.id) : broker.poll('i', body.id)
    expect(await poll).toMatchObject({ state: 'succeeded' })
  })

  it('gives way to a DELETE as any operation does', async () => {
    const { broker, admin, settle } = await boot({
      async provision() {
        throw new TerminalError('no')
      },
    })
    const first = await broker.provision('i')
    await settle()
    const { body } = await admin.actOnOperation(first, 'retry')
    await broker.deprovision('i')
    await settle(minutes(2))
    expect(await broker.poll('i')).toMatchObject({ state: 'succeeded' })
    expect((await admin.operation(body.id)).body.state).toMatch(/superseded|failed/)
  })
})

describe('fail', () => {
  it('ends what hangs with the text of the operator, when its holder can call no more', async () => {
    const { broker, admin, settle, ledger } = await boot({
      provision: () => new Promise<never>(() => {}),
    })
    const operation = await broker.provision('i')
    await settle()
    const message = 'The region is closed.'
    const { status, body } = await admin.failOperation(operation, { message, reason: 'ticket 7' })
    expect(status).toBe(202)
    expect(body).toMatchObject({ id: operation, state: 'queued', error: { message } })
    expect(await broker.poll('i', operation)).toMatchObject({ state: 'in progress' })
    expect(await admin.failOperation(operation, { message, reason: 'again' })).toMatchObject(refused('ended it'))
    await settle(seconds(31))
    expect(await broker.poll('i', operation)).toMatchObject({ state: 'failed', description: message })
    expect(await ledger.instance('i')).toMatchObject({ phase: 'failed', usable: false })
    expect((await ledger.history('i')).map(({ type, verb }) => verb ?? type)).toEqual(['accepted', 'fail', 'failed'])
  })

  it('ends at once what is parked', async () => {
    const { broker, admin, settle } = await boot({
      async update() {
        throw new Error('later')
      },
    })
    await broker.provision('i')
    await settle()
    const operation = await broker.update('i', { size: '2' })
    await settle()
    await admin.failOperation(operation, { message: 'No.', reason: 'x' })
    await settle()
    expect(await broker.poll('i', operation)).toMatchObject({ state: 'failed', description: 'No.' })
  })

  it('runs none of the author, even where the clock of a replica is behind', async () => {
    let runs = 0
    const { broker, settle, ledger } = await boot({
      async update() {
        runs += 1
        throw new Error('later')
      },
    })
    await broker.provision('i')
    await settle()
    const operation = await broker.update('i', { size: '2' })
    await settle()
    const before = runs
    const read = await ledger.operation(operation)
    if (read === undefined) throw new Error('the update is not there')
    const intent = { by: 'ops', operation: read, cascade: false, message: 'No.' }
    await ledger.accept({ instanceId: 'i' }, snapshot => {
      const { answer, change } = decideFail(snapshot, intent)
      return { answer, change: { ...change, operations: [{ ...answer, deadlineAt: snapshot.now + minutes(5) }] } }
    })
    await settle()
    expect(await broker.poll('i', operation)).toMatchObject({ state: 'failed', description: 'No.' })
    expect(runs).toBe(before)
  })

  it('needs the text for the platform and a reason', async () => {
    const { broker, admin } = await boot({ provision: () => new Promise<never>(() => {}) })
    const operation = await broker.provision('i')
    for (const body of [
      {},
      { message: 'x' },
      { reason: 'x' },
      { message: ' ', reason: 'x' },
      { message: 'x', reason: 'x', more: 1 },
    ])
      expect((await admin.failOperation(operation, body as { message: string; reason: string })).status).toBe(400)
  })
})

describe('cancel', () => {
  it('of a provision undoes it, as a DELETE of the platform would', async () => {
    let deprovisions = 0
    const { broker, admin, settle } = await boot({
      provision: () => new Promise<never>(() => {}),
      async deprovision() {
        deprovisions += 1
      },
    })
    const operation = await broker.provision('i')
    await settle()
    const { status, body } = await admin.actOnOperation(operation, 'cancel', { reason: 'wrong region' })
    expect({ status, action: body.action }).toEqual({ status: 202, action: 'deprovision' })
    await settle(minutes(2))
    expect((await admin.operation(operation)).body.state).toBe('superseded')
    expect((await admin.operation(body.id)).body.state).toBe('succeeded')
    expect(deprovisions).toBeGreaterThan(0)
    expect((await broker.client.deprovision('i', { service_id: 'service', plan_id: 'plan' })).status).toBe(410)
  })

  it('of a bind unbinds, and of an update leaves the instance as it was', async () => {
    const { broker, admin, settle, ledger } = await boot({
      bind: () => new Promise<never>(() => {}),
      update: () => new Promise<never>(() => {}),
    })
    await broker.provision('i')
    await settle()
    const bind = await broker.bind('i', 'b')
    await settle()
    expect((await admin.actOnOperation(bind, 'cancel')).body).toMatchObject({ action: 'unbind', binding_id: 'b' })
    await settle(minutes(2))
    expect(await ledger.binding('i', 'b')).toMatchObject({ phase: 'deleted' })
    const update = await broker.update('i', { size: '2' })
    await settle()
    expect((await admin.actOnOperation(update, 'cancel')).body).toMatchObject({ id: update })
    await settle(minutes(1))
    expect(await broker.poll('i', update)).toEqual({
      state: 'failed',
      description: 'The update was cancelled by an operator of the broker.',
    })
    expect(await ledger.instance('i')).toMatchObject({ phase: 'ready', usable: true, parameters: {} })
  })

  it('does not take a deletion back', async () => {
    const { broker, admin, settle } = await boot({ deprovision: () => new Promise<never>(() => {}) })
    await broker.provision('i')
    await settle()
    const deletion = await broker.deprovision('i')
    expect(await admin.actOnOperation(deletion, 'cancel')).toMatchObject(refused('not taken back'))
  })
})

describe('run-now', () => {
  it('does not wait for the next attempt', async () => {
    let attempts = 0
    const { broker, admin, settle } = await boot(
      {
        async provision() {
          attempts += 1
          if (attempts < 2) throw new Error('not yet')
        },
      },
      { engine: { retry: { initial: '10m', max: '10m' } } },
    )
    const operation = await broker.provision('i')
    await settle()
    expect((await admin.operation(operation)).body).toMatchObject({
      state: 'queued',
      waiting_for: expect.stringContaining('trying again'),
      allowed_actions: {
        'run-now': { allowed: true },
        retry: { allowed: false, reason: 'It has not ended.' },
        cancel: { allowed: true },
        fail: { allowed: true },
      },
    })
    expect((await admin.actOnOperation(operation, 'run-now')).status).toBe(202)
    await settle()
    expect(attempts).toBe(2)
    expect(await broker.poll('i', operation)).toMatchObject({ state: 'succeeded' })
    expect(await admin.actOnOperation(operation, 'run-now')).toMatchObject(refused('It has ended'))
  })

  it('an unknown operation is 404 for every verb', async () => {
    const { admin } = await boot({})
    for (const verb of ['retry', 'cancel', 'run-now'])
      expect(await admin.actOnOperation('x', verb)).toMatchObject({ status: 404, body: { error: 'UnknownOperation' } })
    expect((await admin.operation('x')).status).toBe(404)
    expect((await admin.timeline('x')).status).toBe(404)
  })
})

describe('what operators see', () => {
  async function some() {
    const all = await boot({
      async provision(ctx) {
        await ctx.step('create', () => ({ password: 'canary-output' }))
        return { state: { key: 'canary-state' }, dashboardUrl: 'https://dash.example' }
      },
      bind: async () => ({ credentials: { password: 'canary-credentials' }, state: { role: 'canary-binding' } }),
    })
    const parameters = { secret: 'canary-parameters' }
    for (const id of ['a', 'b', 'c']) {
      await all.broker.client.provision(
        id,
        { service_id: 'service', plan_id: 'plan', parameters },
        { acceptsIncomplete: true },
      )
      await all.settle()
    }
    await all.broker.bind('a', 'x')
    await all.settle()
    return all
  }

  it('lists with filters, order and cursors, and never what is sealed', async () => {
    const { admin, broker } = await some()
    const first = await admin.operations({ limit: '2', order: 'oldest' })
    expect(first.body.items?.map(({ instance_id }) => instance_id)).toEqual(['a', 'b'])
    const second = await admin.operations({ limit: '2', order: 'oldest', cursor: first.body.next ?? '' })
    expect(second.body.items?.map(({ action, instance_id }) => `${action} ${instance_id}`)).toEqual([
      'provision c',
      'bind a',
    ])
    expect(second.body.next).toBeUndefined()
    expect((await admin.operations({ instance_id: 'a', binding_id: 'x' })).body.items).toHaveLength(1)
    expect((await admin.operations({ action: 'bind', state: 'succeeded', by: 'finished' })).body.items).toHaveLength(1)
    expect((await admin.operations({ after: '2030-01-01T00:00:00Z' })).body.items).toEqual([])
    expect((await admin.instances({ phase: 'ready', usable: 'true' })).body.items).toHaveLength(3)
    expect((await admin.instances({ platform: 'nobody' })).body.items).toEqual([])
    expect((await admin.bindings({ instance_id: 'a' })).body.items).toMatchObject([{ id: 'x', phase: 'ready' }])
    const { body } = await admin.instance('a')
    expect(body).toMatchObject({
      id: 'a',
      phase: 'ready',
      last_operation: { action: 'provision', state: 'succeeded' },
      bindings: [{ id: 'x' }],
      allowed_actions: { abandon: { allowed: true }, move: { allowed: false, reason: expect.any(String) } },
    })
    const seen = await Promise.all(
      [
        '/admin/instances',
        '/admin/instances/a',
        '/admin/bindings',
        '/admin/operations',
        `/admin/operations/${body.last_operation_id}`,
        `/admin/operations/${body.last_operation_id}/timeline`,
      ].map(async path => (await broker.fetch(new Request(`${broker.url}${path}`))).text()),
    )
    expect(seen.join('\n')).toContain('create')
    expect(seen.join('\n')).not.toContain('canary')
    const row = await broker.store.instance('a')
    expect(seen.join('\n')).not.toContain(row?.dashboardToken)
  })

  it.each([
    ['operations', { limit: '201' }],
    ['operations', { limit: '0' }],
    ['operations', { limit: 'x' }],
    ['operations', { state: 'odd' }],
    ['operations', { statte: 'failed' }],
    ['operations', { binding_id: 'x' }],
    ['operations', { after: 'yesterday' }],
    ['operations', { cursor: 'odd' }],
    ['instances', { phase: 'odd' }],
    ['instances', { usable: 'perhaps' }],
    ['bindings', { phase: 'updating' }],
  ] as const)('GET /admin/%s?%j is a 400 that says what is wrong', async (list, query) => {
    const { admin } = await boot({})
    expect(await admin[list](query)).toMatchObject({ status: 400, body: { error: 'MalformedRequest' } })
  })

  it('an operation with its steps and what happened to it', async () => {
    const { broker, admin, settle } = await boot({
      async provision(ctx) {
        await ctx.step('create', () => {})
        throw new TerminalError('no quota')
      },
    })
    const operation = await broker.provision('i')
    await settle()
    const { body } = await admin.operation(operation)
    expect(body).toMatchObject({
      state: 'failed',
      error: { message: expect.stringContaining('no quota') },
      steps: [{ name: 'create', state: 'done', attempts: 1 }],
      allowed_actions: { retry: { allowed: true }, fail: { allowed: false } },
    } satisfies Partial<Record<keyof ShownOperationBody, unknown>>)
    await admin.actOnOperation(operation, 'retry', { reason: 'quota raised' })
    const { events = [] } = (await admin.timeline(operation)).body
    expect(events.map(({ type }) => type)).toEqual(['accepted', 'step', 'failed', 'acted'])
    expect(events.at(-1)).toMatchObject({ verb: 'retry', by: 'anonymous', reason: 'quota raised' })
  })
})
