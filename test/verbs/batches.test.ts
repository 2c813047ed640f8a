import { describe, expect, it } from 'vitest'
import { createOpenAuthenticator } from '../../src/authenticator/open.ts'
import type { Authenticator, Principal } from '../../src/authenticator.ts'
import { type Service, TerminalError } from '../../src/index.ts'
import { createWorld, minutes, seconds } from '../engine/world.ts'
import { adminOf } from './admin.ts'

const open = createOpenAuthenticator()
const whoHeader = 'x-who'
/** Lets everybody in under the name that they give. */
const named: Authenticator = {
  ...open,
  authenticate(request) {
    const everybody = open.authenticate(request) as Principal
    return { ...everybody, name: request.headers[whoHeader] ?? everybody.name }
  },
}
/** A request of somebody, with an identity of its own. */
const as = (who: string) => ({ headers: { [whoHeader]: who, 'x-broker-api-request-identity': `r-${who}` } })

/** Instances whose provision fails as long as `broken` has their id. */
async function boot(count: number, more: Partial<Service> = {}) {
  const broken = new Set<string>()
  const runs: string[] = []
  const world = createWorld({
    authenticator: named,
    service: {
      async provision(ctx) {
        runs.push(ctx.instance.id)
        if (broken.has(ctx.instance.id)) throw new TerminalError('no quota')
      },
      ...more,
    },
  })
  const broker = await world.boot()
  const operations: string[] = []
  const names = Array.from({ length: count }, (_, index) => `i${index}`)
  for (const name of names) {
    broken.add(name)
    operations.push(await broker.provision(name))
    await world.clock.advance(1)
  }
  await world.clock.advance(seconds(5))
  runs.length = 0
  broken.clear()
  const settle = (ms = seconds(5)) => world.clock.advance(ms)
  return { ...world, broker, admin: adminOf(broker), names, operations, broken, runs, settle }
}

const reason = 'the quota was raised'
const retryAll = { action: 'retry', operations: { state: 'failed' }, reason }

describe('a batch', () => {
  it('acts on all that match, once each, and tells how each has ended', async () => {
    const { admin, settle, operations, names, runs, ledger } = await boot(7)
    const { status, body } = await admin.createBatch({ ...retryAll, concurrency: 3 })
    expect({ status, body }).toMatchObject({
      status: 202,
      body: { state: 'running', action: 'retry', total: 7, by: 'anonymous' },
    })
    await settle()
    expect((await admin.batch(body.id)).body).toMatchObject({ state: 'done', done: 7, refused: 0, left: 0 })
    expect(runs.toSorted()).toEqual(names)
    const { items = [] } = (await admin.batchItems(body.id)).body
    expect(items.map(({ id }) => id)).toEqual(operations)
    for (const { outcome, operation = '' } of items) {
      expect(outcome).toBe('done')
      expect((await admin.operation(operation)).body).toMatchObject({ state: 'succeeded' })
    }
    const [line] = (await ledger.history('i0')).filter(({ verb }) => verb === 'retry')
    expect(line).toMatchObject({ by: 'anonymous', reason })
    expect((await admin.batches()).body.items).toMatchObject([{ id: body.id, state: 'done' }])
    expect(await ledger.notes('batch-active', { limit: 1 })).toEqual([])
  })

  it('is not kept from the rest by an id that nobody knows, or that is refused', async () => {
    const { admin, settle, operations } = await boot(2)
    const [one = '', two = ''] = operations
    await admin.actOnOperation(two, 'retry')
    await settle()
    const { body } = await admin.createBatch({ action: 'retry', ids: ['nobody', two, one, one], reason })
    await settle()
    expect((await admin.batch(body.id)).body).toMatchObject({ state: 'done', total: 3, done: 1, refused: 2 })
    expect((await admin.batchItems(body.id)).body.items).toMatchObject([
      { id: 'nobody', outcome: 'refused', status: 404, error: 'UnknownOperation' },
      { id: two, outcome: 'refused', status: 409, error: 'VerbRefused', detail: 'A later operation has followed it.' },
      { id: one, outcome: 'done' },
    ])
  })

  it('lists only the items of one outcome, page by page, and takes words as the list does', async () => {
    const { admin, settle, operations } = await boot(5)
    const [one = '', , three = ''] = operations
    for (const id of [one, three]) await admin.actOnOperation(id, 'retry')
    await settle()
    const idsOf = async (id: string, query: Record<string, string>) => {
      const { items = [], next } = (await admin.batchItems(id, query)).body
      return { ids: items.map(item => item.id), next }
    }
    const dry = (await admin.createBatch({ action: 'retry', ids: operations, reason, dry_run: true })).body
    expect(await idsOf(dry.id, { outcome: 'refused' })).toEqual({ ids: [one, three] })
    const { body } = await admin.createBatch({ action: 'retry', ids: operations, reason })
    await settle()
    expect(await idsOf(body.id, { outcome: 'refused', limit: '1' })).toEqual({ ids: [one], next: '2' })
    expect(await idsOf(body.id, { outcome: 'refused', limit: '1', cursor: '2' })).toEqual({ ids: [three] })
    expect((await idsOf(body.id, { outcome: 'done' })).ids).toHaveLength(3)
    const found = await admin.createBatch({ action: 'retry', operations: { q: 'NO QUOTA' }, reason, dry_run: true })
    expect(found.body).toMatchObject({ total: 5 })
    const none = await admin.createBatch({ action: 'retry', operations: { q: 'no such' }, reason, dry_run: true })
    expect(none.body).toMatchObject({ total: 0 })
  })

  it('of a dry run changes nothing, gives a verdict for each, and fixes the ids for whoever applies it', async () => {
    const { admin, broker, broken, settle, operations, runs } = await boot(3)
    const [, two = ''] = operations
    const dry = await admin.createBatch({ ...retryAll, dry_run: true })
    expect(dry.status).toBe(200)
    expect(dry.body).toMatchObject({ state: 'planned', total: 3, allowed: 3, refused: 0 })
    expect(dry.body.items).toEqual(operations.map(id => ({ id, allowed: true })))
    await settle()
    expect(runs).toEqual([])
    // One is decided otherwise meanwhile, and another one fails that was not among them.
    await admin.actOnOperation(two, 'retry')
    broken.add('late')
    await broker.provision('late')
    await settle()
    expect((await admin.batchItems(dry.body.id)).body.items).toMatchObject([
      { allowed: true },
      { id: two, allowed: false, reason: 'A later operation has followed it.' },
      { allowed: true },
    ])
    expect((await admin.createBatch({ token: dry.body.token ?? '' })).status).toBe(202)
    await settle()
    expect((await admin.batch(dry.body.id)).body).toMatchObject({ state: 'done', done: 2, refused: 1 })
    expect(runs.toSorted()).toEqual(['i0', 'i1', 'i2', 'late'])
    expect(await admin.createBatch({ token: dry.body.token ?? '' })).toMatchObject({ status: 409 })
    expect((await admin.createBatch({ token: 'nobody' })).status).toBe(404)
  })

  it('that somebody else applies is theirs, also in the history', async () => {
    const { admin, settle, ledger } = await boot(2)
    const { id } = (await admin.createBatch({ ...retryAll, dry_run: true }, as('ada'))).body
    const applied = await admin.createBatch({ token: id }, as('ops'))
    const theirs = { by: 'ops', planned_by: 'ada', request_id: 'r-ops' }
    expect(applied).toMatchObject({ status: 202, body: theirs })
    await settle()
    expect((await admin.batch(id)).body).toMatchObject({ ...theirs, done: 2 })
    for (const name of ['i0', 'i1'])
      expect((await ledger.history(name)).filter(({ verb }) => verb === 'retry')).toMatchObject([
        { by: 'ops', requestId: 'r-ops', reason },
      ])
  })

  it('begins nothing else when a canary fails, once what that has begun has ended', async () => {
    const { admin, settle, broken, runs } = await boot(5)
    broken.add('i1')
    const { body } = await admin.createBatch({ ...retryAll, canary: 2 })
    await settle(seconds(20))
    const { state, why, done, left } = (await admin.batch(body.id)).body
    expect({ state, done, left }).toEqual({ state: 'stopped', done: 2, left: 3 })
    expect(why).toMatch(/^The canary .* has failed: no quota$/)
    expect(runs).toEqual(['i0', 'i1'])
    const { items = [] } = (await admin.batchItems(body.id)).body
    expect(items.map(({ outcome }) => outcome)).toEqual(['done', 'done', 'pending', 'pending', 'pending'])
  })

  it('goes on after canaries that have ended well', async () => {
    const { admin, settle, runs } = await boot(5)
    const { body } = await admin.createBatch({ ...retryAll, canary: 2, concurrency: 1 })
    await settle(seconds(20))
    expect((await admin.batch(body.id)).body).toMatchObject({ state: 'done', done: 5 })
    expect(runs).toHaveLength(5)
  })

  it('has canaries that were really begun: what is refused is none', async () => {
    const { admin, settle, broken, runs, operations } = await boot(5)
    await admin.actOnOperation(operations[0] ?? '', 'retry')
    await settle()
    runs.length = 0
    broken.add('i1')
    const { body } = await admin.createBatch({ ...retryAll, canary: 1 })
    await settle(seconds(20))
    const { why, ...counts } = (await admin.batch(body.id)).body
    expect(counts).toMatchObject({ state: 'stopped', done: 1, refused: 1, left: 3 })
    expect(why).toContain(`${operations[1]} has failed`)
    expect(runs).toEqual(['i1'])
  })

  it('does not stop because of what its dry run has refused, but of what was refused since', async () => {
    const { admin, settle, operations } = await boot(5)
    const [one = '', two = ''] = operations
    const plan = async () => (await admin.createBatch({ ...retryAll, stop_after_failures: 1, dry_run: true })).body.id
    const ended = async (id: string) => {
      await admin.createBatch({ token: id })
      await settle()
      return (await admin.batch(id)).body
    }
    await admin.actOnOperation(one, 'retry')
    await settle()
    const stale = await plan()
    await admin.actOnOperation(two, 'retry')
    await settle()
    expect(await ended(stale)).toMatchObject({ state: 'stopped', why: '1 item failed.' })
    expect(await ended(await plan())).toMatchObject({ state: 'done', left: 0 })
  })

  it('stops after so many failures', async () => {
    const { admin, settle, operations } = await boot(3)
    const ids = ['a', 'b', 'c', ...operations]
    const { body } = await admin.createBatch({ action: 'retry', ids, reason, stop_after_failures: 2, concurrency: 1 })
    await settle()
    expect((await admin.batch(body.id)).body).toMatchObject({
      state: 'stopped',
      done: 0,
      refused: 2,
      left: 4,
      why: '2 items failed.',
    })
  })

  it('is stopped by an operator, and says by whom', async () => {
    const { admin, settle, runs } = await boot(4, {})
    const { body } = await admin.createBatch({ ...retryAll, canary: 4 })
    expect((await admin.stopBatch(body.id)).status).toBe(202)
    await settle(seconds(20))
    expect((await admin.batch(body.id)).body).toMatchObject({ state: 'stopped', why: 'It was stopped by anonymous.' })
    expect(runs.length).toBeLessThan(4)
    expect((await admin.stopBatch(body.id)).status).toBe(409)
    expect((await admin.stopBatch('nobody')).status).toBe(404)
  })

  it('stands in the history itself: who has begun and stopped it, and why; a dry run does not', async () => {
    const { admin, ledger } = await boot(2)
    const planned = (await admin.createBatch({ ...retryAll, canary: 2, dry_run: true }, as('ada'))).body.id
    expect(await ledger.history('')).toEqual([])
    await admin.createBatch({ token: planned }, as('ops'))
    const stopped = await admin.stopBatch(planned, { reason: 'too early' }, as('ada'))
    expect(stopped.body.why).toBe('It was stopped by ada: too early')
    const other = (await admin.createBatch(retryAll, as('ada'))).body.id
    const begun = { type: 'acted', instanceId: '', verb: 'start-batch', reason, before: {} }
    expect(await ledger.history('')).toMatchObject([
      { ...begun, by: 'ops', requestId: 'r-ops', after: { batch: planned, action: 'retry', total: 2 } },
      { verb: 'stop-batch', by: 'ada', reason: 'too early', after: { batch: planned, state: 'stopping' } },
      { ...begun, by: 'ada', requestId: 'r-ada', after: { batch: other, action: 'retry', total: 2 } },
    ])
  })

  it.each([1, 2, 3, 5, 8, 13, 21, 34])(
    'that loses its replica after %i calls goes on elsewhere, each item once',
    async points => {
      const { broker, boot: another, admin, clock, names, runs, ledger } = await boot(6)
      const { body } = await admin.createBatch({ ...retryAll, concurrency: 2, dry_run: true })
      const applied = admin.createBatch({ token: body.id })
      const point = broker.passed() + points
      broker.crashAt(point)
      await Promise.race([applied, clock.advance(seconds(1))])
      await clock.advance(seconds(1))
      if (!broker.isCrashed()) broker.crash()
      const second = adminOf(await another())
      if ((await second.batch(body.id)).body.state === 'planned') await second.createBatch({ token: body.id })
      await clock.advance(minutes(4))
      expect((await second.batch(body.id)).body).toMatchObject({ state: 'done', left: 0, done: 6, refused: 0 })
      for (const name of names)
        expect((await ledger.history(name)).filter(({ verb }) => verb === 'retry')).toHaveLength(1)
      expect(new Set(runs).size).toBe(6)
    },
  )

  it('of a repeated request with a key is one batch', async () => {
    const { admin, ledger } = await boot(1)
    const send = () => admin.createBatch(retryAll, { headers: { 'idempotency-key': 'k' } })
    const [one, other] = [await send(), await send()]
    expect([other.status, other.body]).toEqual([202, one.body])
    expect(await ledger.notes('batch', { limit: 10 })).toHaveLength(1)
  })

  it.each([
    [{ action: 'dance', ids: ['a'], reason }],
    [{ action: 'retry', ids: ['a'] }],
    [{ action: 'retry', reason }],
    [{ action: 'retry', ids: ['a'], operations: { state: 'failed' }, reason }],
    [{ action: 'retry', instances: { phase: 'failed' }, reason }],
    [{ action: 'retry', operations: { stat: 'failed' }, reason }],
    [{ action: 'fail', ids: ['a'], reason }],
    [{ action: 'retry', ids: ['a'], reason, concurrency: 0 }],
    [{ token: 'x', ids: ['a'] }],
  ])('%j is refused', async body => {
    const { admin } = await boot(0)
    expect((await admin.createBatch(body)).status).toBe(400)
  })
})

describe('every verb', () => {
  it('hold, release, run-now, fail and cancel', async () => {
    const { admin, settle, broker, ledger } = await boot(0, {
      async provision() {
        throw new Error('later')
      },
      actions: { provision: { retry: { initial: '10m' } } },
    })
    const ids = [await broker.provision('a'), await broker.provision('b')]
    await settle()
    for (const action of ['hold', 'release', 'run-now'])
      expect((await run({ action, ids, reason })).done, action).toBe(2)
    expect((await run({ action: 'fail', ids: ids.slice(0, 1), reason, message: 'No.' })).done).toBe(1)
    expect((await run({ action: 'cancel', ids: ids.slice(1), reason })).done).toBe(1)
    expect((await ledger.operation(ids[0] ?? ''))?.error).toMatchObject({ message: 'No.' })
    expect((await ledger.operation(ids[1] ?? ''))?.state).toBe('superseded')

    async function run(order: object) {
      const { body } = await admin.createBatch(order)
      await settle()
      return (await admin.batch(body.id)).body
    }
  })

  it('observe, move and abandon, of instances', async () => {
    let looks = 0
    const { admin, settle, broker, ledger } = await boot(0, {
      async observe() {
        looks += 1
        return { ready: true }
      },
    })
    for (const id of ['a', 'b']) await broker.provision(id)
    await settle()
    looks = 0
    expect((await admin.observeInstance('a', { reason })).body).toMatchObject({ action: 'observe' })
    await settle()
    expect(looks).toBe(1)
    const instances = { phase: 'ready' }
    const observed = await admin.createBatch({ action: 'observe', instances, reason, canary: 1 })
    await settle(seconds(10))
    expect((await admin.batch(observed.body.id)).body).toMatchObject({ state: 'done', done: 2 })
    expect(looks).toBe(3)
    const moved = await admin.createBatch({ action: 'move', ids: ['a'], reason, dry_run: true })
    expect(moved.body.items).toMatchObject([
      { id: 'a', allowed: false, reason: expect.stringContaining('no revisions') },
    ])
    const abandoned = await admin.createBatch({ action: 'abandon', instances, reason })
    await settle()
    expect((await admin.batch(abandoned.body.id)).body).toMatchObject({ state: 'done', done: 2 })
    expect((await ledger.instance('a'))?.phase).toBe('deleted')
  })
})
