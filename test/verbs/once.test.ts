import { describe, expect, it } from 'vitest'
import { type Service, TerminalError } from '../../src/index.ts'
import { createWorld, seconds } from '../engine/world.ts'
import { adminOf } from './admin.ts'

/** Two replicas on one ledger, and an operation that has failed. */
async function boot(service: Partial<Service> = {}) {
  const world = createWorld({
    service: {
      async provision() {
        throw new TerminalError('no')
      },
      ...service,
    },
  })
  const broker = await world.boot()
  const other = await world.boot({ concurrency: 1 })
  const operation = await broker.provision('i')
  await world.clock.advance(seconds(1))
  return { ...world, broker, operation, admin: adminOf(broker), second: adminOf(other) }
}

const keyed = (key: string) => ({ headers: { 'idempotency-key': key } })

describe('a request with an Idempotency-Key', () => {
  it('is answered as the first was, by any replica, and does nothing again', async () => {
    const { admin, second, operation, ledger, clock } = await boot()
    const first = await admin.actOnOperation(operation, 'retry', { reason: 'why' }, keyed('k1'))
    expect(first).toMatchObject({ status: 202, body: { retry_of: operation } })
    await clock.advance(seconds(5))
    const again = await second.actOnOperation(operation, 'retry', { reason: 'why' }, keyed('k1'))
    expect(again.headers['idempotency-replayed']).toBe('true')
    expect({ status: again.status, body: again.body }).toEqual({ status: 202, body: first.body })
    expect((await ledger.history('i')).filter(({ verb }) => verb === 'retry')).toHaveLength(1)
    const failed = await admin.operation(first.body.id)
    expect(failed.body.state).toBe('failed')
    // A new key is a new request.
    expect((await admin.actOnOperation(first.body.id, 'retry', {}, keyed('k2'))).body.retry_of).toBe(first.body.id)
  })

  it.each([
    ['body', 'retry', { reason: 'another' }],
    ['path', 'cancel', { reason: 'why' }],
  ])('is refused where the %s is another', async (_, verb, body) => {
    const { admin, operation } = await boot()
    await admin.actOnOperation(operation, 'retry', { reason: 'why' }, keyed('k'))
    expect(await admin.actOnOperation(operation, verb, body, keyed('k'))).toMatchObject({
      status: 422,
      body: { error: 'KeyReused', type: 'urn:purser:error:KeyReused' },
    })
  })

  it('that was refused is decided again', async () => {
    const { admin, operation, broker } = await boot()
    expect((await admin.actOnOperation(operation, 'run-now', {}, keyed('k'))).status).toBe(409)
    expect((await admin.actOnOperation(operation, 'run-now', {}, keyed('k'))).status).toBe(409)
    expect(await broker.store.notes('request', { limit: 10 })).toEqual([])
  })

  it('and its twin at the same time do it once, on two replicas', async () => {
    const { admin, second, operation, ledger } = await boot()
    const retry = (of: typeof admin) => of.actOnOperation(operation, 'retry', {}, keyed('k'))
    const answers = await Promise.all([retry(admin), retry(second), retry(admin), retry(second)])
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202])
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
    expect((await ledger.history('i')).filter(({ verb }) => verb === 'retry')).toHaveLength(1)
  })

  it('is done once also where it leaves nothing in the ledger that could refuse it', async () => {
    const { admin, clock } = await boot()
    const run = async (key: string) => {
      const { status } = await admin.runChore('purge', keyed(key))
      expect(status).toBe(202)
      await clock.advance(seconds(5))
      const { chores = [] } = (await admin.chores()).body
      return chores.find(({ name }) => name === 'purge')?.started_at
    }
    const first = await run('k')
    expect(first).toBeDefined()
    expect(await run('k')).toBe(first)
    expect(await run('another')).not.toBe(first)
  })

  it('is kept for a day', async () => {
    const { admin, operation, ledger, clock } = await boot()
    await admin.actOnOperation(operation, 'retry', {}, keyed('k'))
    await clock.advance(seconds(24 * 3600 - 10))
    expect(await ledger.forgetNotes(10)).toBe(0)
    await admin.runChore('purge')
    await clock.advance(seconds(20))
    expect(await ledger.forgetNotes(10)).toBe(1)
  })

  it.each([
    ['abandon', '/admin/instances/i/abandon', { reason: 'gone' }, 200],
    ['a chore', '/admin/chores/purge/runs', {}, 202],
  ])('is kept for %s, too', async (_, path, body, status) => {
    const { broker, clock } = await boot()
    const send = () =>
      broker.fetch(
        new Request(`${broker.url}${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'idempotency-key': 'k' },
          body: JSON.stringify(body),
        }),
      )
    const first = await send()
    const text = await first.text()
    expect(first.status).toBe(status)
    await clock.advance(seconds(1))
    const again = await send()
    expect([again.status, await again.text(), again.headers.get('idempotency-replayed')]).toEqual([
      status,
      text,
      'true',
    ])
  })

  it('needs a key of visible characters', async () => {
    const { admin, operation } = await boot()
    expect((await admin.actOnOperation(operation, 'retry', {}, keyed('a b'))).status).toBe(400)
    expect((await admin.actOnOperation(operation, 'retry', {}, keyed('x'.repeat(256)))).status).toBe(400)
  })
})

describe('If-Match', () => {
  const match = (tag: string | undefined) => ({ headers: { 'if-match': tag } })

  it('acts on an operation only as it was seen', async () => {
    const { admin, broker, clock } = await boot({
      async provision() {},
      async update() {
        throw new Error('later')
      },
      actions: { update: { retry: { initial: '10s' } } },
    })
    const operation = await broker.update('i', { size: '2' })
    await clock.advance(seconds(1))
    const seen = (await admin.operation(operation)).headers.etag
    expect(seen).toMatch(/^"[\w-]{22}"$/)
    await clock.advance(seconds(30))
    expect(await admin.actOnOperation(operation, 'hold', {}, match(seen))).toMatchObject({
      status: 412,
      body: { error: 'StaleVersion' },
    })
    const now = (await admin.operation(operation)).headers.etag
    expect((await admin.actOnOperation(operation, 'hold', {}, match(`"x", ${now}`))).status).toBe(202)
    expect((await admin.actOnOperation(operation, 'release', {}, match(now))).status).toBe(412)
    expect((await admin.actOnOperation(operation, 'release', {}, match('*'))).status).toBe(202)
  })

  it('acts on an instance only as it was seen', async () => {
    const { admin, broker, clock } = await boot({ async provision() {} })
    const seen = (await admin.instance('i')).headers.etag
    await broker.deprovision('i')
    await clock.advance(seconds(1))
    expect((await admin.abandonInstance('i', { reason: 'x' }, match(seen))).status).toBe(412)
    expect((await admin.moveInstance('i', { reason: 'x', revision: 'r' }, match(seen))).status).toBe(404)
  })
})
