import { inspect } from 'node:util'
import { expect, it } from 'vitest'
import { observeLines } from '../../src/observer/log.ts'
import type { Store } from '../../src/store.ts'
import { StoreUnavailableError } from '../../src/store.ts'
import {
  claimOne,
  finish,
  instanceRow,
  leaseOf,
  operationRow,
  provision,
} from '../../src/testing/store-contract/rows.ts'
import { connect } from '../external/postgres-connection.ts'
import { startProxy } from './postgres-proxy.ts'
import { describePostgres, newSchema, openStore } from './postgres-subject.ts'

describePostgres('postgres in trouble', server => {
  for (const mode of ['immediate', 'fast'] as const) {
    it(`keeps every promise over a restart (${mode}) in the middle of 200 requests`, { timeout: 300_000 }, async () => {
      const store = await openStore({ url: server.url, schema: newSchema() })
      const ids = Array.from({ length: 200 }, (_, index) => `i${index}`)
      let answered = 0
      let restart: Promise<void> | undefined
      const outcomes = await Promise.allSettled(
        ids.map(id =>
          put(store, id).finally(() => {
            answered += 1
            if (answered === 60) restart = server.restart(mode)
          }),
        ),
      )
      await restart
      await untilItWorks(store)
      const resolved = outcomes.filter(outcome => outcome.status === 'fulfilled')
      expect(resolved.length).toBeGreaterThanOrEqual(50)
      for (const [index, outcome] of outcomes.entries()) {
        const id = ids[index] ?? ''
        const rows = [await store.instance(id), await store.operation(`${id}:provision`), (await store.history(id))[0]]
        const there = rows.filter(row => row !== undefined).length
        if (outcome.status === 'fulfilled') expect(there).toBe(3)
        else {
          expect(outcome.reason).toBeInstanceOf(StoreUnavailableError)
          expect([0, 3]).toContain(there)
        }
      }
      // Whoever got no answer asks again, and it is the same whether the first time had worked or not.
      await Promise.all(ids.map(id => put(store, id)))
      for (const id of ids) expect(await store.history(id)).toHaveLength(1)
      expect((await store.claim('w', 500, 60_000)).claims).toHaveLength(200)
    })
  }

  it('survives that all its connections are killed, in use or idle, and hears again', {
    timeout: 120_000,
  }, async () => {
    const warnings: string[] = []
    const observer = observeLines('warn', ({ text }) => warnings.push(text))
    const store = await openStore({ url: server.url, schema: newSchema(), observer })
    const admin = await connect(server.url)
    const kill = () =>
      admin.query({ text: `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'purser'` })
    await Promise.all(Array.from({ length: 10 }, (_, index) => provision(store, `before${index}`)))
    const woken = new Promise<void>(resolve => {
      store.onWakeUp(() => resolve())
    })
    await kill()
    await woken
    expect(warnings).toHaveLength(1)
    await untilItWorks(store)

    const inUse = Promise.allSettled(Array.from({ length: 100 }, (_, index) => put(store, `during${index}`)))
    await kill()
    for (const outcome of await inUse)
      if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(StoreUnavailableError)
    await untilItWorks(store)
    await Promise.all(Array.from({ length: 100 }, (_, index) => put(store, `during${index}`)))
    for (let index = 0; index < 100; index += 1) expect(await store.history(`during${index}`)).toHaveLength(1)
    expect((await store.claim('w', 500, 60_000)).claims).toHaveLength(110)
    await admin.end()
  })

  it('says unavailable while the server is down, for everything, and works when it is back', async () => {
    const store = await openStore({ url: server.url, schema: newSchema() })
    await provision(store, 'i')
    const lease = leaseOf(await claimOne(store))
    await server.down('fast')
    const calls = [
      () => store.ping(),
      () => put(store, 'j'),
      () => store.claim('w', 1, 1000),
      () => store.renew([lease], 1000),
      () => store.checkpoint(lease, { description: 'x' }),
      () => store.park(lease, { until: 1 }),
      () => finish(store, lease),
      () => store.handBack(lease),
      () => store.share(lease, 'key', 'acquire'),
      () => store.instance('i'),
      () => store.history('i'),
      () => store.dueForObservation(1),
      () => store.backlog(1),
    ]
    for (const call of calls) await expect(call()).rejects.toBeInstanceOf(StoreUnavailableError)
    await server.up()
    await untilItWorks(store)
    expect(await finish(store, lease)).toBe(true)
  })

  it('does not repeat a write whose answer was lost; asking again finds it', async () => {
    const proxy = await startProxy(server.url)
    const store = await openStore({ url: proxy.url, schema: newSchema() })
    let decisions = 0
    const lost = store.accept({ instanceId: 'i' }, ({ now }) => {
      decisions += 1
      proxy.loseNextAnswer()
      return { answer: 'accepted', change: changeOf('i', now) }
    })
    await expect(lost).rejects.toBeInstanceOf(StoreUnavailableError)
    expect(decisions).toBe(1)
    expect(await put(store, 'i')).toBe('i:provision')
    expect(await store.history('i')).toHaveLength(1)

    const lease = leaseOf(await claimOne(store))
    const unsure = store.finish(lease, ({ finishing }) => {
      proxy.loseNextAnswer()
      return { operations: [{ ...finishing, state: 'succeeded' }] }
    })
    await expect(unsure).rejects.toBeInstanceOf(StoreUnavailableError)
    expect((await store.operation('i:provision'))?.state).toBe('succeeded')
    expect(await finish(store, lease)).toBe(false)
  })

  it('gives up in time where the network swallows everything, also for those who wait', {
    timeout: 120_000,
  }, async () => {
    const proxy = await startProxy(server.url)
    const limits = { connectTimeout: 5_000, statementTimeout: 2_000, poolSize: 2 }
    const store = await openStore({ url: proxy.url, schema: newSchema(), ...limits })
    await put(store, 'i')
    proxy.freeze()
    const started = performance.now()
    const calls = [...Array.from({ length: 20 }, () => put(store, 'i')), store.ping(), store.claim('w', 1, 1000)]
    const outcomes = await Promise.allSettled(calls)
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(StoreUnavailableError) })
    // Twenty that wait for one another would take eighty seconds and more, if each had to find out by itself.
    expect(performance.now() - started).toBeLessThan(40_000)
    proxy.thaw()
    await untilItWorks(store)
    expect(await put(store, 'i')).toBe('i:provision')
  })

  it('ends a statement that takes too long, and knows that it did nothing', { timeout: 120_000 }, async () => {
    const schema = newSchema()
    const store = await openStore({ url: server.url, schema, statementTimeout: '2s' })
    await put(store, 'i')
    const admin = await connect(server.url)
    await admin.query({ text: `begin; select 1 from ${schema}.instance for update` })
    const change = { instance: instanceRow('i', { updatedAt: 42 }) }
    const blocked = store.accept({ instanceId: 'i' }, () => ({ answer: 0, change }))
    await expect(blocked).rejects.toThrow('did not finish a statement in time')
    await admin.query({ text: 'rollback' })
    await admin.end()
    expect((await store.instance('i'))?.updatedAt).toBe(1)
  })

  for (const code of ['40P01', '40001'])
    it(`tries again, in silence, what the server took back for the sake of others (${code}), but not for ever`, async () => {
      const schema = newSchema()
      const store = await openStore({ url: server.url, schema })
      const admin = await connect(server.url)
      // A sequence keeps its count when a transaction is taken back.
      const refuse = (
        times: number,
      ) => `create or replace function ${schema}.refuse() returns trigger language plpgsql as $$
        begin
          if nextval('${schema}.refused') <= ${times} then raise exception 'taken back' using errcode = '${code}'; end if;
          return new;
        end $$;`
      await admin.query({
        text: `create sequence ${schema}.refused; ${refuse(3)}
          create trigger refuse before insert on ${schema}.instance for each row execute function ${schema}.refuse()`,
      })
      expect(await put(store, 'i')).toBe('i:provision')
      expect(await store.history('i')).toHaveLength(1)
      await admin.query({ text: refuse(1_000_000) })
      await expect(put(store, 'j')).rejects.toBeInstanceOf(StoreUnavailableError)
      expect(await store.instance('j')).toBeUndefined()
      await admin.end()
    })

  it('tells nothing of what a row holds when it is refused', async () => {
    const schema = newSchema()
    const store = await openStore({ url: server.url, schema })
    const admin = await connect(server.url)
    await admin.query({ text: `alter table ${schema}.instance add constraint full_up check (id <> 'i')` })
    await admin.end()
    const refused = store.accept({ instanceId: 'i' }, () => ({
      answer: 0,
      change: { instance: instanceRow('i', { parameters: { password: 'hunter2' } }) },
    }))
    const error = await refused.catch((error: unknown) => error)
    expect(error).toMatchObject({ message: 'the ledger refused a change: the statement failed (23514, full_up)' })
    expect(inspect(error, { depth: 9 })).not.toContain('hunter2')
  })
})

/** Accepts, unless it was accepted before; answers the operation. */
function put(store: Store, id: string): Promise<string> {
  return store.accept({ instanceId: id }, ({ instance, now }) =>
    instance === undefined
      ? { answer: `${id}:provision`, change: changeOf(id, now) }
      : { answer: instance.lastOperationId },
  )
}

function changeOf(id: string, now: number) {
  return {
    instance: instanceRow(id),
    operations: [operationRow(`${id}:provision`, id)],
    history: [{ at: now, type: 'accepted', instanceId: id } as const],
  }
}

/** The pool notices dead connections when it uses them; the limit is the test's own. */
async function untilItWorks(store: Store): Promise<void> {
  for (;;) {
    const works = await store.ping().then(
      () => true,
      error => {
        expect(error).toBeInstanceOf(StoreUnavailableError)
        return false
      },
    )
    if (works) return
    await new Promise(resolve => setImmediate(resolve))
  }
}
