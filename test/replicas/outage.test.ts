import { expect, it, onTestFinished } from 'vitest'
import { openMongoStore } from '../../src/store/mongodb/index.ts'
import { openPostgresStore } from '../../src/store/postgres/index.ts'
import { type Store, StoreUnavailableError } from '../../src/store.ts'
import { ids, incomplete } from '../engine/world.ts'
import { describeMongo, newDatabase } from '../store/mongodb-subject.ts'
import { startProxy } from '../store/postgres-proxy.ts'
import { describePostgres, newSchema } from '../store/postgres-subject.ts'
import { ended, type Replica, startReplica, until } from './broker.ts'

const limits = { connectTimeout: '1s' } as const
const patience = { timeout: 300_000 }
/** Far above what the limits of these stores add up to, far below what a platform waits. */
const bounded = 45_000

/** A server, and two ways to lose it: it is gone, or it says nothing more. */
interface Place {
  /** Opens a store by way of `url`, with short limits. */
  open(url: string): Promise<Store>
  readonly url: string
  down(): Promise<void>
  up(): Promise<void>
}

function outageTests(place: () => Place): void {
  it('gone and back: every request is told to come again, and what was accepted ends once', patience, async () => {
    const { url, open, down, up } = place()
    await surviveOutage(() => open(url), { begin: down, end: up })
  })

  it('silent and back: the same, within a bounded time', patience, async () => {
    const { url, open } = place()
    const proxy = await startProxy(url)
    await surviveOutage(() => open(proxy.url), { begin: async () => proxy.freeze(), end: async () => proxy.thaw() })
  })

  it(
    'an accept whose answer is lost is answered 503, or found out; repeated, it is the same operation',
    patience,
    async () => {
      const { url, open } = place()
      const proxy = await startProxy(url)
      let lose = () => proxy.loseNextAnswer()
      // Used for nothing else, so that nobody else's answer is lost.
      const fragile = await open(proxy.url)
      onTestFinished(() => fragile.close())
      const { store, client } = await startReplica(
        async () => ({
          ...(await open(url)),
          accept: (target, decide) =>
            fragile.accept(target, snapshot => {
              const verdict = decide(snapshot)
              lose()
              lose = () => {}
              return verdict
            }),
        }),
        { service: {} },
      )
      const first = await client.provision('i', ids, incomplete)
      if (store.name.startsWith('postgres')) expect(first.status).toBe(503)
      else expect([202, 503]).toContain(first.status)
      if (first.status === 503) expect(first.headers['retry-after']).toMatch(/^\d+$/)
      const again = await client.provision('i', ids, incomplete)
      expect([200, 202]).toContain(again.status)
      const operation = (await store.instance('i'))?.lastOperationId ?? ''
      if (again.status === 202) expect(again.body.operation).toBe(operation)
      expect(await ended(client, 'i', operation)).toBe('succeeded')
      const history = await store.history('i')
      expect(history.map(({ type, operationId }) => [type, operationId])).toEqual([
        ['accepted', operation],
        ['succeeded', operation],
      ])
    },
  )
}

async function surviveOutage(
  open: () => Promise<Store>,
  outage: { begin(): Promise<void>; end(): Promise<void> },
): Promise<void> {
  const calls: string[] = []
  const released: (() => void)[] = []
  onTestFinished(() => {
    for (const release of released) release()
  })
  const replica = await startReplica(open, {
    service: {
      instancesRetrievable: true,
      bindingsRetrievable: true,
      bind: async () => ({ credentials: {} }),
      unbind: async () => {},
      update: async () => {},
      async provision(ctx) {
        await ctx.step('one', () => {
          calls.push(`one ${ctx.instance.id}`)
          if (released.length > 0) return undefined
          return new Promise<void>(resolve => released.push(resolve))
        })
        await ctx.step('two', () => void calls.push(`two ${ctx.instance.id}`))
      },
    },
    settings: { engine: { lease: '10s', callTimeout: '4s' } },
  })
  const { client, log } = replica
  const held = (await client.provision('held', ids, incomplete)).body.operation ?? ''
  await until(async () => released.length > 0)
  calls.length = 0

  let over = false
  const end = async () => {
    if (!over) await outage.end()
    over = true
  }
  onTestFinished(end)
  await outage.begin()
  await refusesEverything(replica, held)
  // Its call ends in the middle of the outage: what follows has to wait.
  for (const release of released) release()
  await refusesEverything(replica, held)
  expect(calls).toEqual([])

  await end()
  await until(async () => (await fetch(`${replica.url}/readyz`)).status === 200)
  expect(await ended(client, 'held', held)).toBe('succeeded')
  expect(calls.filter(call => call === 'two held')).toHaveLength(1)
  const ends = (await replica.store.history('held')).filter(({ type }) => type !== 'accepted')
  expect(ends.map(({ type }) => type)).toEqual(['succeeded'])
  const next = await until(async () => {
    const { status, body } = await client.provision('next', ids, incomplete)
    return status === 202 && (body.operation ?? undefined)
  })
  expect(await ended(client, 'next', next)).toBe('succeeded')

  // It is over when the last of those who ask has got an answer. A driver may give up one more silent connection after it:
  // then that is told too, once at its beginning and once at its end. That one outage is told once, `engine/outage` shows.
  const told = () => log.filter(line => /the store (does not answer|answers again)/.test(line))
  await until(async () => told().at(-1)?.includes('answers again'))
  expect(told()).toEqual(
    told().map((_, index) =>
      index % 2 === 0
        ? 'error the store does not answer: no work is begun until it does'
        : 'info the store answers again',
    ),
  )
  // Besides what it told of requests, and of the operation that was cut off, or had to wait too long.
  const others = log.filter(
    line => !/^\w+ request|the store|chore done|operation (succeeded|interrupted)|step failed|wake-ups/.test(line),
  )
  expect(others).toEqual([])
}

async function refusesEverything({ url, client, said }: Replica, operation: string): Promise<void> {
  const started = performance.now()
  const answers = await Promise.all([
    client.provision('new', ids, incomplete),
    client.provision('held', ids, incomplete),
    client.update('held', { service_id: ids.service_id }, incomplete),
    client.deprovision('held', ids, incomplete),
    client.bind('held', 'b', ids, incomplete),
    client.unbind('held', 'b', ids, incomplete),
    client.fetchInstance('held'),
    client.fetchBinding('held', 'b'),
    client.lastOperation('held', { operation }),
    client.lastOperation('held'),
    client.lastBindingOperation('held', 'b'),
  ])
  for (const { status, headers, text } of answers) {
    expect(status, text).toBe(503)
    expect(Number(headers['retry-after'])).toBeGreaterThan(0)
    expect(text).not.toContain('"state"')
  }
  expect((await client.catalog()).status).toBe(200)
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
  const ready = await fetch(`${url}/readyz`)
  const reason = await ready.text()
  expect([ready.status, reason]).toEqual([503, expect.stringContaining('does not answer')])
  expect(performance.now() - started).toBeLessThan(bounded)
  expect(reason + said()).not.toContain('hunter2')
}

/** The limits are short for a busy machine, on which a ledger is made: as under a supervisor, it is tried again. */
function opened(open: () => Promise<Store>): Promise<Store> {
  return until(() =>
    open().catch(error => {
      if (error instanceof StoreUnavailableError) return undefined
      throw error
    }),
  )
}

describePostgres('a PostgreSQL that cannot be reached', server => {
  outageTests(() => {
    const schema = newSchema()
    const url = new URL(server.url)
    url.password = 'hunter2'
    return {
      url: url.href,
      open: url => opened(() => openPostgresStore({ url, schema, ...limits, statementTimeout: '1s' })),
      down: () => server.down('fast'),
      up: () => server.up(),
    }
  })
})

describeMongo('a MongoDB that cannot be reached', server => {
  outageTests(() => {
    const database = newDatabase()
    const url = new URL(server().url)
    url.search = '?directConnection=true'
    return {
      url: url.href,
      open: url => opened(() => openMongoStore({ url, database, ...limits, statementTimeout: '2s' })),
      down: () => server().kill(),
      up: () => server().start(),
    }
  })
})
