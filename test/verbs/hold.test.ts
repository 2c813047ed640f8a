import { describe, expect, it } from 'vitest'
import { decideHold } from '../../src/domain/decide-verb.ts'
import { type Service, TerminalError } from '../../src/index.ts'
import { silent } from '../../src/observer.ts'
import type { Settings } from '../../src/settings/settings.ts'
import { createWorld, ids, minutes, seconds } from '../engine/world.ts'
import { adminOf } from './admin.ts'

const twice = { retry: { attempts: 2, initial: '1s' } } as const
const actions: Service['actions'] = { provision: twice, update: twice, deprovision: twice, bind: twice, unbind: twice }

interface Options {
  readonly settings?: Settings
  readonly held?: (event: { readonly operationId: string; readonly until: number; readonly reason: string }) => void
}

async function boot(service: Partial<Service>, { settings, held }: Options = {}) {
  const bindable: Partial<Service> = { bindable: true, bind: async () => ({ credentials: {} }), async unbind() {} }
  const some = { ...bindable, update: async () => {}, ...service }
  const used = Object.fromEntries(
    Object.entries(actions ?? {}).filter(([name]) => name in some || name.includes('provision')),
  )
  const observer = { ...silent, 'operation.held': held ?? (() => {}) }
  const world = createWorld({ settings, observer, service: { actions: used, ...some } })
  const broker = await world.boot()
  const settle = (ms = seconds(1)) => world.clock.advance(ms)
  return { ...world, broker, admin: adminOf(broker), settle }
}

/** A provision whose second step fails as long as it is told to. */
function failing() {
  const calls: string[] = []
  const now = { broken: true, calls }
  const service: Partial<Service> = {
    hold: true,
    async provision(ctx) {
      await ctx.step('create', () => calls.push('create'))
      await ctx.step('configure', () => {
        calls.push('configure')
        if (now.broken) throw new Error('no quota')
      })
    },
  }
  return { service, now }
}

const refused = (reason: string) => ({
  status: 409,
  body: { error: 'VerbRefused', detail: expect.stringContaining(reason) },
})

describe('an operation that has used up its retries', () => {
  it('is held where its service asks for it, and goes on in place when it is released', async () => {
    const { service, now } = failing()
    const told: object[] = []
    const { broker, admin, settle, ledger } = await boot(service, { held: event => told.push(event) })
    const operation = await broker.provision('i')
    await settle(seconds(5))
    expect(now.calls).toEqual(['create', 'configure', 'configure'])
    const polled = await broker.client.lastOperation('i', { operation })
    expect(polled.body).toEqual({
      state: 'in progress',
      description: 'The step "configure" gave up after 2 attempts. Held until an operator of the broker decides.',
    })
    expect(Number(polled.headers['retry-after'])).toBeLessThanOrEqual(10)
    const { body } = await admin.operation(operation)
    const hold = { since: expect.any(String), error: { message: 'The step "configure" gave up after 2 attempts.' } }
    expect(body).toMatchObject({
      state: 'queued',
      not_before: body.deadline_at,
      hold,
      allowed_actions: {
        retry: { allowed: true },
        release: { allowed: true },
        fail: { allowed: true },
        cancel: { allowed: true },
        hold: { allowed: false, reason: 'It is held.' },
        'run-now': { allowed: false, reason: 'It is held: release it.' },
      },
    })
    expect((await admin.operations({ state: 'held' })).body.items).toMatchObject([{ id: operation, hold }])
    const reason = 'The step "configure" gave up after 2 attempts.'
    expect(told).toMatchObject([{ operationId: operation, until: Date.parse(body.deadline_at), reason }])

    expect((await admin.actOnOperation(operation, 'release', { reason: 'the quota was raised' })).status).toBe(202)
    const released = { verb: 'release', before: { operation, state: 'queued', not_before: body.deadline_at } }
    expect((await admin.history({ verb: 'release' })).body.items).toMatchObject([released])
    expect((await admin.timeline(operation)).body.events).toContainEqual(expect.objectContaining(released))
    await settle(seconds(5))
    expect(now.calls, 'a fresh budget of two, and what was done stays done').toHaveLength(5)
    now.broken = false
    expect((await admin.actOnOperation(operation, 'retry')).body.id).toBe(operation)
    await settle()
    expect(await broker.poll('i', operation)).toMatchObject({ state: 'succeeded' })
    expect(now.calls.filter(call => call === 'create')).toHaveLength(1)
    expect((await admin.operation(operation)).body.hold).toBeUndefined()
    expect((await admin.operations({ state: 'held' })).body.items).toEqual([])
    expect(
      (await admin.timeline(operation)).body.events?.map(({ type, verb, by, reason }) => [type, verb, by, reason]),
    ).toEqual([
      ['accepted', undefined, undefined, undefined],
      ['step', undefined, undefined, undefined],
      ['held', undefined, undefined, undefined],
      ['acted', 'release', 'anonymous', 'the quota was raised'],
      ['held', undefined, undefined, undefined],
      ['step', undefined, undefined, undefined],
      ['acted', 'retry', 'anonymous', undefined],
      ['succeeded', undefined, undefined, undefined],
    ])
    expect(await ledger.instance('i')).toMatchObject({ phase: 'ready' })
  })

  it('fails as it would have when nobody decides before its deadline, and is told so only then', async () => {
    const { service } = failing()
    const heard: string[] = []
    const world = createWorld({
      service: { ...service, actions: { provision: { ...twice, timeout: '10m' } } },
      hooks: [{ name: 'h', error: (_, error) => void heard.push(String(error)) }],
    })
    const broker = await world.boot()
    const operation = await broker.provision('i')
    await world.clock.advance(minutes(10) - 1)
    expect(heard).toEqual([])
    expect(await broker.poll('i', operation)).toMatchObject({ state: 'in progress' })
    await world.clock.advance(seconds(2))
    expect(await broker.poll('i', operation)).toEqual({
      state: 'failed',
      description: 'The step "configure" gave up after 2 attempts.',
    })
    expect(heard).toHaveLength(1)
    expect(await world.ledger.instance('i')).toMatchObject({ phase: 'failed', usable: false })
    expect(await adminOf(broker).actOnOperation(operation, 'release')).toMatchObject(refused('It has ended'))
  })

  it('ends before the platform stops polling', async () => {
    const { service } = failing()
    const plans = [{ id: 'plan', name: 'plan', description: 'The plan', maximumPollingDuration: 600 }]
    const { broker, settle } = await boot({ ...service, plans })
    const operation = await broker.provision('i')
    await settle(minutes(9) - seconds(1))
    expect(await broker.poll('i', operation)).toMatchObject({ state: 'in progress' })
    await settle(seconds(3))
    expect(await broker.poll('i', operation)).toMatchObject({ state: 'failed' })
  })

  it.each(['provision', 'update', 'deprovision', 'bind', 'unbind'] as const)('%s', async action => {
    let broken = true
    const act = async () => {
      if (broken) throw new Error('not now')
      return action === 'bind' ? { credentials: {} } : {}
    }
    const { broker, admin, settle } = await boot({ hold: true, [action]: act })
    const isBinding = action === 'bind' || action === 'unbind'
    let operation = await broker.provision('i')
    await settle()
    if (isBinding) operation = await broker.bind('i', 'b')
    await settle()
    if (action === 'unbind') operation = await broker.unbind('i', 'b')
    if (action === 'update') operation = await broker.update('i', { size: '2' })
    if (action === 'deprovision') operation = await broker.deprovision('i')
    await settle(seconds(5))
    expect((await admin.operation(operation)).body.hold).toMatchObject({ since: expect.any(String) })
    broken = false
    await admin.actOnOperation(operation, 'release')
    await settle()
    const poll = isBinding ? broker.pollBinding('i', 'b', operation) : broker.poll('i', operation)
    expect(await poll).toMatchObject({ state: 'succeeded' })
  })

  it.each([
    ['by name', ['service']],
    ['all', ['*']],
  ])('engine.hold names the services, %s; the code wins', async (_, hold) => {
    const { service } = failing()
    const settings = { engine: { hold } }
    const { broker, settle } = await boot({ ...service, hold: undefined }, { settings })
    const operation = await broker.provision('i')
    await settle(seconds(5))
    expect(await broker.poll('i', operation)).toMatchObject({ state: 'in progress' })
    const other = await boot({ ...service, hold: false }, { settings })
    await other.broker.provision('i')
    await other.settle(seconds(5))
    expect(await other.broker.poll('i')).toMatchObject({ state: 'failed' })
  })

  it.each([
    ['the service does not ask for it', { hold: undefined }],
    [
      'the author says that trying again cannot help',
      {
        async provision() {
          throw new TerminalError('never')
        },
      },
    ],
  ])('fails at once where %s', async (_, more) => {
    const { broker, settle } = await boot({ ...failing().service, ...more })
    const operation = await broker.provision('i')
    await settle(seconds(5))
    expect(await broker.poll('i', operation)).toMatchObject({ state: 'failed' })
  })

  it('fails at once where its request waits for it', async () => {
    const { broker, settle } = await boot(failing().service)
    const waiting = broker.client.provision('i', ids)
    await settle(seconds(5))
    expect((await waiting).status).toBe(500)
  })

  it.each(['fail', 'cancel', 'DELETE'])('gives way to %s', async how => {
    const { broker, admin, settle, ledger } = await boot(failing().service)
    const operation = await broker.provision('i')
    await settle(seconds(5))
    if (how === 'fail') await admin.failOperation(operation, { message: 'No room.', reason: 'x' })
    if (how === 'cancel') await admin.actOnOperation(operation, 'cancel')
    if (how === 'DELETE') await broker.deprovision('i')
    await settle(minutes(2))
    const row = await ledger.operation(operation)
    expect(row).toMatchObject(
      how === 'fail' ? { state: 'failed', error: { message: 'No room.' } } : { state: 'superseded' },
    )
    expect(row?.hold).toBeUndefined()
    if (how === 'fail') expect(await broker.poll('i')).toEqual({ state: 'failed', description: 'No room.' })
    else expect(await broker.poll('i')).toMatchObject({ state: 'succeeded' })
  })

  it('is swept where a call of it may still land', async () => {
    const { service, now } = failing()
    const { broker, admin, settle, ledger } = await boot(service)
    const operation = await broker.provision('i')
    await settle(seconds(5))
    now.broken = false
    await admin.actOnOperation(operation, 'release')
    await settle()
    expect((await ledger.operation(operation))?.unclean).toBe(true)
  })
})

describe('an operator holds', () => {
  it('what is parked: nobody runs it until it is released', async () => {
    let runs = 0
    const { broker, admin, settle } = await boot({
      async provision() {
        runs += 1
        throw new Error('later')
      },
      actions: { provision: { retry: { initial: '30s' } } },
    })
    const operation = await broker.provision('i')
    await settle()
    const { body } = await admin.actOnOperation(operation, 'hold', { reason: 'the backend is being moved' })
    expect(body).toMatchObject({
      state: 'queued',
      hold: { by: 'anonymous' },
      waiting_for: 'held by an operator of the broker',
    })
    expect(await admin.actOnOperation(operation, 'hold')).toMatchObject(refused('It is held.'))
    await settle(minutes(5))
    expect(runs).toBe(1)
    expect(await broker.poll('i', operation)).toMatchObject({ state: 'in progress' })
    await admin.actOnOperation(operation, 'release')
    await settle()
    expect(runs).toBe(2)
    expect(await admin.actOnOperation(operation, 'release')).toMatchObject(refused('It is not held'))
    await admin.actOnOperation(operation, 'hold')
    await settle(minutes(60))
    expect(await broker.poll('i', operation)).toEqual({
      state: 'failed',
      description: 'The provision did not end within 1 hour. Last: held by an operator of the broker.',
    })
    expect(runs).toBe(2)
  })

  it('not what is running, has ended, or waits for what was before it', async () => {
    const { broker, admin, settle } = await boot({
      provision: () => new Promise<never>(() => {}),
      async deprovision() {},
    })
    const operation = await broker.provision('i')
    await settle()
    expect(await admin.actOnOperation(operation, 'hold')).toMatchObject(refused('It is running.'))
    const deletion = await broker.deprovision('i')
    const { body } = await admin.operation(deletion)
    if (body.state === 'queued' && Date.parse(body.not_before) > Date.parse(body.accepted_at))
      expect(await admin.actOnOperation(deletion, 'hold')).toMatchObject(refused('surely over'))
    await settle(minutes(2))
    expect(await admin.actOnOperation(deletion, 'hold')).toMatchObject(refused('It has ended'))
  })

  it('and a worker that is given it all the same puts it back', async () => {
    let runs = 0
    const { broker, settle, ledger, clock } = await boot({
      async update() {
        runs += 1
        throw new Error('later')
      },
      actions: { update: { retry: { initial: '30s' } } },
    })
    await broker.provision('i')
    await settle()
    const operation = await broker.update('i', { size: '2' })
    await settle()
    const read = await ledger.operation(operation)
    if (read === undefined) throw new Error('the update is not there')
    // As a replica of an older release may make it due, which knows nothing of holds.
    const store = broker.store
    await store.accept({ instanceId: 'i' }, snapshot => {
      const { answer } = decideHold(snapshot, { by: 'ops', operation: read, cascade: false })
      return { answer, change: { operations: [{ ...answer, notBefore: snapshot.now + seconds(1) }] } }
    })
    await clock.advance(seconds(3))
    expect(runs).toBe(1)
    expect(await store.operation(operation)).toMatchObject({ state: 'queued', notBefore: read.deadlineAt })
  })
})

describe('races', () => {
  it.each(['release', 'fail', 'cancel'] as const)(
    'of two operators who %s what is held, one is refused',
    async verb => {
      const { broker, admin, settle } = await boot(failing().service)
      const operation = await broker.provision('i')
      await settle(seconds(5))
      const act = () =>
        verb === 'fail'
          ? admin.failOperation(operation, { message: 'No.', reason: 'x' })
          : admin.actOnOperation(operation, verb)
      const answers = await Promise.all([act(), act()])
      expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 409])
    },
  )
})
