import { expect, it } from 'vitest'
import { mostLanes } from '../../src/store/postgres/lanes.ts'
import { change, pin, revisionRow } from '../../src/testing/store-contract/catalog-rows.ts'
import {
  finish,
  instanceRow,
  leaseOf,
  operationRow,
  provision,
  stepRow,
} from '../../src/testing/store-contract/rows.ts'
import type { PostgresServer } from '../external/postgres.ts'
import { connect } from '../external/postgres-connection.ts'
import { openParts } from './postgres-parts.ts'
import { describePostgres, newSchema, openStore, patient } from './postgres-subject.ts'

const leaseTime = 600_000

describePostgres('postgres: many calls, few round trips', server => {
  it('accepts a new instance in one statement, and one that is there in two', async () => {
    const { store, calls } = await openCounted(server)
    await store.claim('w', 1, leaseTime)
    expect(await calls(() => provision(store, 'new'))).toEqual({ look: 0, write: 1 })
    const update = () =>
      store.accept({ instanceId: 'new' }, ({ instance }) => ({ answer: 0, change: touched(instance) }))
    expect(await calls(update)).toEqual({ look: 1, write: 1 })
  })

  it('accepts an instance that is pinned in one statement, too', async () => {
    const { store, calls } = await openCounted(server)
    await store.claim('w', 1, leaseTime)
    await change(store, { insertRevisions: [revisionRow('r')] })
    expect(await calls(() => pin(store, 'new', { revisionId: 'r' }))).toEqual({ look: 0, write: 1 })
  })

  it('shows a decision about a new instance what is there, where there is one', async () => {
    const { store } = await openCounted(server)
    await provision(store, 'i')
    const seen: unknown[] = []
    const answer = await store.accept({ instanceId: 'i' }, ({ instance, operation }) => {
      seen.push(instance?.id)
      if (operation !== undefined) return { answer: operation.id }
      return { answer: 'o', change: { instance: instanceRow('i'), operations: [operationRow('o', 'i')] } }
    })
    expect(answer).toBe('i:provision')
    expect(seen).toEqual([undefined, 'i'])
    expect(await store.operation('o')).toBeUndefined()
  })

  it.each([
    ['ahead', 3_600_000],
    ['back', -3_600_000],
  ])('decides again where the database’s clock has jumped %s', async (_, jump) => {
    const { store, schema } = await openCounted(server)
    await store.claim('w', 1, leaseTime)
    const admin = await connect(server.url)
    await admin.query({
      text: `create or replace function ${schema}.now_ms() returns double precision language sql volatile as $$
        select floor(extract(epoch from clock_timestamp()) * 1000)::double precision + ${jump} $$`,
    })
    await admin.end()
    const times: number[] = []
    await store.accept({ instanceId: 'i' }, ({ now }) => {
      times.push(now)
      return { answer: now, change: { instance: instanceRow('i'), operations: [operationRow('o', 'i')] } }
    })
    expect(times).toHaveLength(2)
    const [first = 0, second = 0] = times
    expect(Math.abs(second - first - jump)).toBeLessThan(600_000)
    expect(second).toBeLessThanOrEqual((await store.claim('w', 1, leaseTime)).now)
  })

  it('ends an operation without a look, and again with one where the database’s clock has jumped', async () => {
    const { store, schema, calls } = await openCounted(server)
    const times: number[] = []
    const end = async (id: string) => {
      await provision(store, id)
      const [claim] = (await store.claim('w', 1, leaseTime)).claims
      if (claim === undefined) throw new Error('nothing was claimed')
      return () =>
        store.finish(leaseOf(claim), ({ finishing, now }) => {
          times.push(now)
          return { operations: [{ ...finishing, state: 'succeeded', finishedAt: now }] }
        })
    }
    expect(await calls(await end('usual'))).toEqual({ look: 0, write: 1 })
    expect(times.splice(0)).toHaveLength(1)
    const late = await end('late')
    const admin = await connect(server.url)
    await admin.query({ text: `alter function ${schema}.now_ms() rename to now_before` })
    await admin.query({
      text: `create function ${schema}.now_ms() returns double precision language sql volatile as $$
        select ${schema}.now_before() + 3600000 $$`,
    })
    await admin.end()
    expect(await calls(late)).toEqual({ look: 0, write: 2 })
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(3_000_000)
    expect(await store.operation('late:provision')).toMatchObject({ state: 'succeeded', finishedAt: times[1] })
  })

  it('decides again where the database’s clock has jumped, each of many', async () => {
    const { store, schema } = await openCounted(server)
    await store.claim('w', 1, leaseTime)
    const admin = await connect(server.url)
    await admin.query({ text: `alter function ${schema}.now_ms() rename to now_before` })
    await admin.query({
      text: `create function ${schema}.now_ms() returns double precision language sql volatile as $$
        select ${schema}.now_before() + 3600000 $$`,
    })
    await admin.end()
    const written = Array.from({ length: 12 }, (_, index) =>
      store.accept({ instanceId: `i${index}` }, ({ now }) => ({
        answer: now,
        change: { instance: instanceRow(`i${index}`), operations: [operationRow(`o${index}`, `i${index}`)] },
      })),
    )
    const { now } = await store.claim('w', 1, leaseTime)
    for (const at of await Promise.all(written)) expect(Math.abs(at - now)).toBeLessThan(600_000)
  })

  it('writes the checkpoints of many operations together, each with its own answer', async () => {
    const { store, leases } = await openHeld(server, 40)
    const [lost, done] = leases.slice(0, 2)
    if (lost === undefined || done === undefined) throw new Error('no leases')
    await store.checkpoint(done, { step: stepRow('s') })
    await finish(store, lost)
    const answers = await Promise.allSettled(leases.map(lease => store.checkpoint(lease, { step: stepRow('s') })))
    expect(answers[0]).toEqual({ status: 'fulfilled', value: false })
    expect(answers[1]).toMatchObject({ status: 'rejected', reason: { message: expect.stringContaining('is done') } })
    expect(answers.slice(2)).toEqual(leases.slice(2).map(() => ({ status: 'fulfilled', value: true })))
  })

  it('writes no checkpoints of a holder whose leases were taken over', async () => {
    const { store } = await openCounted(server)
    await Promise.all(Array.from({ length: 12 }, (_, index) => provision(store, `i${index}`)))
    const lost = (await store.claim('w', 12, 1)).claims.map(leaseOf)
    let taken = 0
    while (taken < 12) taken += (await store.claim('v', 12, leaseTime)).claims.length
    const answers = await Promise.all(lost.map(lease => store.checkpoint(lease, { step: stepRow('s') })))
    expect(answers).toEqual(lost.map(() => false))
  })

  it('lets locked rows keep nobody else: neither checkpoints nor ends', async () => {
    // Those that would wait for a lock in vain end after this time.
    const { store, schema, leases } = await openHeld(server, 30, 15_000)
    const locked = leases.slice(0, mostLanes)
    const admin = await connect(server.url)
    const lock = (table: string, ids: readonly string[]) =>
      admin.query({ text: `begin; select 1 from ${schema}.${table} where id in ('${ids.join("', '")}') for update` })

    // As many as there can be lanes, and the first that come: each is on its way when the others follow.
    await lock(
      'operation',
      locked.map(({ operationId }) => operationId),
    )
    const checkpoints = leases.map(lease => store.checkpoint(lease, { step: stepRow('s') }))
    expect(await Promise.all(checkpoints.slice(mostLanes))).toEqual(leases.slice(mostLanes).map(() => true))
    await admin.query({ text: 'rollback' })
    expect(await Promise.all(checkpoints)).toEqual(leases.map(() => true))

    await lock('instance', ['i0', 'i1', 'i2', 'i3'])
    const ends = leases.map(lease => finish(store, lease))
    expect(await Promise.all(ends.slice(mostLanes))).toEqual(leases.slice(mostLanes).map(() => true))
    await admin.query({ text: 'rollback' })
    await admin.end()
    expect(await Promise.all(ends)).toEqual(leases.map(() => true))
  })

  it('shows each of many decisions what is there', async () => {
    const { store } = await openCounted(server)
    await provision(store, 'i3')
    const [claim] = (await store.claim('w', 1, leaseTime)).claims
    if (claim === undefined) throw new Error('no claim')
    await finish(store, leaseOf(claim))
    const accepts = Array.from({ length: 12 }, (_, index) =>
      store.accept({ instanceId: `i${index}` }, ({ instance }) => {
        if (instance !== undefined) return { answer: instance.phase }
        const rows = { instance: instanceRow(`i${index}`), operations: [operationRow(`o${index}`, `i${index}`)] }
        return { answer: 'new', change: rows }
      }),
    )
    const expected = accepts.map((_, index) => (index === 3 ? 'ready' : 'new'))
    expect(await Promise.all(accepts)).toEqual(expected)
    expect((await store.claim('w', 100, leaseTime)).claims).toHaveLength(11)
  })

  it('makes two decisions about one instance one after the other, though they come together', async () => {
    const { store, leases } = await openHeld(server, 8)
    // The end of each operation, and a change of its instance that the end must not undo.
    const ends = leases.map(lease => finish(store, lease))
    const changes = leases.map((_, index) =>
      store.accept({ instanceId: `i${index}` }, ({ instance }) => ({
        answer: 0,
        change: instance && { instance: { ...instance, dashboardToken: 'changed' } },
      })),
    )
    expect(new Set(await Promise.all(ends))).toEqual(new Set([true]))
    await Promise.all(changes)
    for (const index of leases.keys()) {
      const { phase, dashboardToken } = (await store.instance(`i${index}`)) ?? {}
      expect([phase, dashboardToken]).toEqual(['ready', 'changed'])
    }
  })

  it('refuses one of many accepts alone', async () => {
    const { store } = await openCounted(server)
    await provision(store, 'taken')
    const accepts = Array.from({ length: 20 }, (_, index) =>
      store.accept({ instanceId: `i${index}` }, () => ({
        answer: index,
        change: {
          instance: instanceRow(`i${index}`),
          // The row that it refers to is not there.
          operations: [operationRow(`o${index}`, index === 7 ? 'nobody' : `i${index}`)],
        },
      })),
    )
    const answers = await Promise.allSettled(accepts)
    expect(answers.map(({ status }, index) => (status === 'rejected' ? index : -1)).filter(at => at >= 0)).toEqual([7])
    expect(await store.instance('i7')).toBeUndefined()
    expect((await store.claim('w', 100, leaseTime)).claims).toHaveLength(20)
  })

  it('ends in no deadlock, with renewals of the same rows in another order', async () => {
    const { store, leases } = await openHeld(server, 40)
    for (let round = 0; round < 10; round += 1) {
      const held = await Promise.all([
        store.renew([...leases].reverse(), leaseTime),
        ...leases.map(lease => store.checkpoint(lease, { description: `round ${round}` })),
        store.renew(leases, leaseTime),
        ...leases.map((_, index) =>
          store.accept({ instanceId: `i${index}` }, ({ instance }) => ({ answer: true, change: touched(instance) })),
        ),
      ])
      expect(held.slice(1).includes(false)).toBe(false)
    }
    expect(new Set(await Promise.all(leases.map(lease => finish(store, lease))))).toEqual(new Set([true]))
  })
})

function touched(instance: ReturnType<typeof instanceRow> | undefined) {
  return instance === undefined ? {} : { instance: { ...instance, updatedAt: instance.updatedAt + 1 } }
}

async function openHeld(server: PostgresServer, count: number, statementTimeoutMs?: number) {
  const { store, schema } = await openCounted(server, statementTimeoutMs)
  await Promise.all(Array.from({ length: count }, (_, index) => provision(store, `i${index}`)))
  const { claims } = await store.claim('w', count, leaseTime)
  const leases = claims.map(leaseOf).sort((one, other) => number(one.operationId) - number(other.operationId))
  expect(leases).toHaveLength(count)
  return { store, schema, leases }
}

function number(operationId: string): number {
  return Number(/\d+/.exec(operationId)?.[0])
}

/** `calls` counts the statements of a decision that the work sends. */
async function openCounted({ url }: PostgresServer, statementTimeoutMs = patient.statementTimeout) {
  const schema = newSchema()
  await (await openStore({ url, schema })).close()
  const counts = { look: 0, write: 0 }
  const store = await openParts({
    url,
    schema,
    statementTimeoutMs,
    between: run => (statement, values) => {
      if (statement.name === 'purser_look') counts.look += 1
      if (/^purser_(write|gathered)$/.test(statement.name ?? '')) counts.write += 1
      return run(statement, values)
    },
  })
  return {
    store,
    schema,
    async calls(work: () => Promise<unknown>) {
      const before = { ...counts }
      await work()
      return { look: counts.look - before.look, write: counts.write - before.write }
    },
  }
}
