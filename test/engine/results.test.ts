import { describe, expect, it } from 'vitest'
import { limits } from '../../src/domain/limits.ts'
import type { Hook, Service } from '../../src/index.ts'
import { startTestBroker } from '../../src/testing/test-broker.ts'
import { createWorld, ids, minutes, seconds, serviceOf } from './world.ts'

const circular: Record<string, unknown> = { name: 'x' }
circular.self = { again: circular }
const long = (length: number) => 'x'.repeat(length)

/** What a provision may not return, and what the platform is told about it. */
const wrongProvisions: readonly (readonly [what: string, result: unknown, description: string])[] = [
  ['a BigInt', { state: { size: 1n } }, 'state.size is a BigInt'],
  ['a circle', { state: circular }, 'state.self.again contains itself'],
  ['a function', { state: { on: [() => {}] } }, 'state.on[0] is a function'],
  ['a Map', { state: { users: new Map([['a', 1]]) } }, 'state.users is a Map, which JSON loses'],
  ['a promise', { state: { user: Promise.resolve('u') } }, 'state.user is a Promise, which JSON loses'],
  ['bytes', { state: { key: new Uint8Array(4) } }, 'state.key is a Uint8Array, which JSON loses'],
  ['not a number', { state: { size: Number.NaN } }, 'state.size is NaN'],
  ['a state in a list', { state: [] }, 'state must be an object, not a list'],
  [
    'an unknown key',
    { dashboardURL: 'https://x.example' },
    'dashboardURL is not known here; did you mean dashboardUrl?',
  ],
  [
    'a key of another action',
    { credentials: {} },
    'credentials is not known here; known here: message, state, dashboardUrl, metadata',
  ],
  ['a text', 'done', 'it must be an object, not a text'],
  ['null', { metadata: null }, 'metadata must be an object, not null'],
  ['no URL', { dashboardUrl: 'x.example' }, 'dashboardUrl must be a URL that begins with http:// or https://'],
  ['another URL', { dashboardUrl: 'ftp://x' }, 'begins with http:// or https://, not another text.'],
  ['wrong labels', { metadata: { labels: 'web' } }, 'metadata.labels must be an object, not a text'],
  ['two mistakes', { sate: {}, dashboardUrl: 5 }, 'sate is not known here; did you mean state?; dashboardUrl must be'],
  [
    'too much state',
    { state: { text: long(limits.stateBytes) } },
    `state has ${limits.stateBytes + 11} bytes of JSON, and at most ${limits.stateBytes} are allowed`,
  ],
]

/** What a context may not be called with. */
const wrongCalls: readonly (readonly [what: string, provision: Service['provision'], description: string])[] = [
  [
    'wait without return',
    ctx => void ctx.wait('1s', 'soon'),
    'The provision called ctx.wait and did not return it. Write: return ctx.wait(…).',
  ],
  [
    'wait without a duration',
    ctx => ctx.wait('soon' as '1s', 'x'),
    `ctx.wait needs durations such as '10s', '5m' or 500 (milliseconds), not "soon".`,
  ],
  ['wait without a text', ctx => ctx.wait('1s', 5 as never), 'ctx.wait needs a text as its description, not a number.'],
  [
    'describe without a text',
    ctx => ctx.describe({} as never),
    'ctx.describe needs a text as its description, not an object',
  ],
  [
    'a long description',
    ctx => ctx.describe(long(limits.descriptionLength + 1)),
    `ctx.describe got a description of ${limits.descriptionLength + 1} characters, and at most ${limits.descriptionLength}`,
  ],
  ['saveState without an object', ctx => ctx.saveState('x' as never), 'ctx.saveState needs an object, not a text.'],
  [
    'saveState of a Map',
    ctx => ctx.saveState(new Map([['a', 1]]) as never),
    'ctx.saveState needs an object, not a Map.',
  ],
  ['saveState of a Date', ctx => ctx.saveState(new Date() as never), 'ctx.saveState needs an object, not a Date.'],
  [
    'saveState of a circle',
    ctx => ctx.saveState({ circular } as never),
    'ctx.saveState got what cannot be kept: state.circular.self.again contains itself. Only JSON can be kept.',
  ],
  ['a step without a name', ctx => void ctx.step('', () => 1), 'ctx.step needs a name as its first argument.'],
  ['a step without a function', ctx => ctx.step('a', 5 as never), "ctx.step('a', fn) needs a function, not a number."],
  [
    'a long step name',
    ctx => ctx.step(long(limits.stepNameLength + 1), () => undefined),
    `…" of ctx.step has ${limits.stepNameLength + 1} characters, and at most ${limits.stepNameLength} are allowed.`,
  ],
  [
    'a long key of a share',
    ctx => ctx.share(long(limits.stepNameLength + 1), () => {}),
    `…" of ctx.share has ${limits.stepNameLength + 1} characters, and at most ${limits.stepNameLength} are allowed.`,
  ],
  [
    'a step with a wrong timeout',
    ctx => ctx.step('a', () => undefined, { timeout: '1 hour' as '1h' }),
    `The settings of ctx.step('a') are wrong: timeout found "1 hour"; allowed: a duration`,
  ],
  [
    'a step with an unknown setting',
    ctx => ctx.step('a', () => undefined, { retires: 3 } as never),
    "The settings of ctx.step('a') are wrong: retires is not known here; known here: timeout, retry",
  ],
  [
    'a step with a wrong retry',
    ctx => ctx.step('a', () => undefined, { retry: { attempts: 'many' as never } }),
    'retry.attempts found "many"; allowed: a whole number',
  ],
  ['share without a key', ctx => ctx.share('', () => {}), 'ctx.share needs a key as its first argument.'],
  [
    'a step that returns a BigInt',
    ctx => ctx.step('a', () => ({ size: 1n }) as never),
    'The step "a" returned what cannot be kept: output.size is a BigInt. Only JSON can be kept.',
  ],
  [
    'a step that returns too much',
    ctx => ctx.step('a', () => long(limits.stepOutputBytes)) as never,
    `output has ${limits.stepOutputBytes + 2} bytes of JSON, and at most ${limits.stepOutputBytes} are allowed.`,
  ],
  [
    'share without a function',
    ctx => ctx.share('key', undefined as never),
    "ctx.share('key', create) needs a function",
  ],
]

const wrongBinds: readonly (readonly [what: string, result: unknown, description: string])[] = [
  ['nothing', undefined, 'The bind returned a wrong result: credentials are missing; return { credentials: {} } where'],
  ['a state only', { state: { user: 'u' } }, 'credentials are missing'],
  ['credentials in a text', { credentials: 'user:password' }, 'credentials must be an object, not a text'],
  ['a date that is none', { credentials: {}, metadata: { expiresAt: 5 } }, 'metadata.expiresAt must be a date'],
  ['no list of endpoints', { credentials: {}, endpoints: {} }, 'endpoints must be a list, not an object'],
  [
    'a port',
    { credentials: {}, endpoints: [{ host: 'h', port: '1' }] },
    'endpoints[0].port is not known here; did you mean ports?; endpoints[0].ports is missing',
  ],
  ['a mount of nothing', { volumeMounts: [null] }, 'volumeMounts[0] must be an object, not null'],
  [
    'too many credentials',
    { credentials: { text: long(limits.bindingBytes) } },
    `credentials has ${limits.bindingBytes + 11} bytes of JSON`,
  ],
]

async function failedProvision(provision: Service['provision'], hooks: readonly Hook[] = []) {
  let runs = 0
  const world = createWorld({
    hooks,
    service: {
      provision(ctx) {
        runs += 1
        return provision(ctx)
      },
    },
  })
  const process = await world.boot()
  const operation = await process.provision('i')
  await world.clock.advance(seconds(1))
  const polled = await process.poll('i', operation)
  expect({ ...polled, runs }).toMatchObject({ state: 'failed', runs: hooks.length > 0 ? expect.any(Number) : 1 })
  return polled.description
}

describe('a result is checked where it is returned, and a wrong one fails at once', () => {
  it.each(wrongProvisions)('a provision that returns %s', async (_, result, description) => {
    const told = await failedProvision(async () => result as never)
    expect(told).toContain('The provision returned a wrong result: ')
    expect(told).toContain(description)
  })

  it.each<[string, unknown, string]>([
    ['a Map', new Map([['state', {}]]), 'a Map'],
    ['a Date', new Date(), 'a Date'],
    ['a Response', new Response(), 'a Response'],
    ['an error', new Error('x'), 'an Error'],
    ['a generator', (function* () {})(), 'a Generator'],
  ])('a provision that returns %s', async (_, result, what) => {
    expect(await failedProvision(async () => result as never)).toBe(`The provision returned ${what}, not an object.`)
  })

  it('an instance of a class counts with its fields', async () => {
    class Made {
      readonly state = { size: 1 }
    }
    const world = createWorld({ service: { provision: async () => new Made() } })
    const process = await world.boot()
    await process.provision('i')
    await world.clock.advance(seconds(1))
    expect((await world.ledger.instance('i'))?.state).toEqual({ size: 1 })
  })

  it('a small instanceState must not make the state of the instance too large', async () => {
    const half = { text: long(limits.stateBytes - 100) }
    const patch = { instanceState: { more: long(100) } }
    const world = createWorld({
      service: {
        provision: async () => ({ state: half }),
        bind: async () => ({ credentials: {}, ...patch }),
        unbind: async () => patch,
      },
    })
    const process = await world.boot()
    await process.provision('i')
    await world.clock.advance(seconds(1))
    const problem = `the state of the instance i, with instanceState merged into it, has ${limits.stateBytes + 21} bytes of JSON, and at most ${limits.stateBytes} are allowed.`
    const bound = await process.bind('i', 'b')
    await world.clock.advance(seconds(1))
    expect(await process.pollBinding('i', 'b', bound)).toEqual({
      state: 'failed',
      description: `The bind returned a wrong result: ${problem}`,
    })
    const unbound = await process.unbind('i', 'b')
    await world.clock.advance(seconds(1))
    expect((await process.pollBinding('i', 'b', unbound)).description).toContain(problem)
    expect((await world.ledger.instance('i'))?.state).toEqual(half)
  })

  it.each(wrongCalls)('%s', async (_, provision, description) => {
    expect(await failedProvision(async ctx => provision(ctx))).toContain(description)
  })

  it.each(wrongBinds)('a bind that returns %s', async (_, result, description) => {
    const world = createWorld({ service: { bind: async () => result as never, async unbind() {} } })
    const process = await world.boot()
    await process.provision('i')
    await world.clock.advance(seconds(1))
    const operation = await process.bind('i', 'b')
    await world.clock.advance(seconds(1))
    const polled = await process.pollBinding('i', 'b', operation)
    expect(polled).toMatchObject({ state: 'failed', description: expect.stringContaining(description) })
  })

  it('a bind of a service with requires may return nothing, and credentials may be empty', async () => {
    const bind = async () => undefined
    const drains = { ...serviceOf({ bind, async unbind() {} }), requires: ['syslog_drain'] as const }
    const empty = { ...serviceOf({ bind: async () => ({ credentials: {} }), async unbind() {} }), id: 'e', name: 'e' }
    const services = [drains, { ...empty, plans: [{ id: 'p', name: 'p', description: 'p' }] }]
    const broker = await startTestBroker({ services, settings: { osb: { requireOrgAndSpace: false } } })
    for (const named of [ids, { service_id: 'e', plan_id: 'p' }]) {
      const provisioned = broker.client.provision(named.plan_id, named)
      await broker.clock.advance(seconds(1))
      expect((await provisioned).status).toBe(201)
      const bound = broker.client.bind(named.plan_id, 'b', named)
      await broker.clock.advance(seconds(1))
      expect((await bound).status).toBe(201)
    }
    await broker.stop()
  })

  it('an unbind, an update and a deprovision name themselves', async () => {
    const wrong = async () => ({ states: {} }) as never
    const bind = async () => ({ credentials: {} })
    const world = createWorld({ service: { bind, unbind: wrong, update: wrong, deprovision: wrong } })
    const process = await world.boot()
    await process.provision('i')
    await world.clock.advance(seconds(1))
    await process.bind('i', 'b')
    await world.clock.advance(seconds(1))
    await process.unbind('i', 'b')
    await world.clock.advance(seconds(1))
    expect((await process.pollBinding('i', 'b')).description).toBe(
      'The unbind returned a wrong result: states is not known here; known here: message, instanceState.',
    )
    const updated = await process.update('i', { a: 'b' })
    await world.clock.advance(seconds(1))
    expect((await process.poll('i', updated)).description).toContain('The update returned a wrong result: states is')
    const world2 = createWorld({ service: { deprovision: wrong } })
    const other = await world2.boot()
    await other.provision('i')
    await world2.clock.advance(seconds(1))
    const removed = await other.deprovision('i')
    await world2.clock.advance(seconds(1))
    expect((await other.poll('i', removed)).description).toBe(
      'The deprovision returned a wrong result: states is not known here; known here: message.',
    )
  })

  it.each([
    ['nothing', undefined, 'ready is missing'],
    ['a text', { ready: 'yes' }, 'ready must be true or false, not a text'],
  ])('an observe that returns %s', async (_, result, description) => {
    const world = createWorld({ service: { observe: async () => result as never, observeEvery: '1m' } })
    const process = await world.boot()
    await process.provision('i')
    await world.clock.advance(minutes(2))
    const instance = await world.ledger.instance('i')
    expect(instance?.conditions[0]).toMatchObject({
      status: false,
      reason: 'ObservationFailed',
      message: expect.stringContaining(`The observe returned a wrong result: ${description}`),
    })
  })

  it('an observe cannot wait', async () => {
    const world = createWorld({ service: { observe: async ctx => ctx.wait('1s', 'x') as never, observeEvery: '1m' } })
    const process = await world.boot()
    await process.provision('i')
    await world.clock.advance(minutes(2))
    expect((await world.ledger.instance('i'))?.conditions[0]?.message).toContain('The observe called ctx.wait.')
  })

  it('a hook cannot wait; what it returns does not matter', async () => {
    const waiting: Hook = { name: 'audit', before: ctx => void ctx.wait('1s', 'x') }
    expect(await failedProvision(async () => {}, [waiting])).toBe(
      'The hook "audit" called ctx.wait. Only an action can wait.',
    )
    const world = createWorld({ service: {}, hooks: [{ name: 'returns', before: (): never => 1n as never }] })
    const process = await world.boot()
    const operation = await process.provision('i')
    await world.clock.advance(seconds(1))
    expect(await process.poll('i', operation)).toMatchObject({ state: 'succeeded' })
  })

  it('a synchronous request over HTTP is told', async () => {
    const services = [serviceOf({ provision: async () => ({ state: circular }) as never })]
    const broker = await startTestBroker({
      services,
      transport: 'socket',
      settings: { osb: { requireOrgAndSpace: false } },
    })
    const answered = broker.client.provision('i', ids)
    let answer: Awaited<typeof answered> | undefined
    void answered.then(value => {
      answer = value
    })
    while (answer === undefined) await broker.clock.advance(10)
    expect(answer).toMatchObject({
      status: 500,
      body: {
        error: 'ActionFailed',
        description: 'The provision returned a wrong result: state.self.again contains itself. Only JSON can be kept.',
      },
    })
    await broker.stop()
  })
})
