import { expect, it } from 'vitest'
import type { Connection } from '../../src/store/postgres/driver.ts'
import type { Change, Snapshot, Store } from '../../src/store.ts'
import { bindingRow, instanceRow, operationRow } from '../../src/testing/store-contract/rows.ts'
import { connect } from '../external/postgres-connection.ts'
import { describePostgres, newSchema, openStore } from './postgres-subject.ts'

const ever = 9e15

describePostgres('postgres: a purge beside requests of other replicas', server => {
  it('leaves what was used again after it had been seen as a tombstone', async () => {
    const schema = newSchema()
    const store = await openStore({ url: server.url, schema })
    await bury(store, 'first', 1)
    await bury(store, 'second', 2)
    await put(store, 'home', {
      instance: instanceRow('home', { phase: 'ready' }),
      bindings: [bindingRow('home', 'b', { phase: 'deleted', deletedAt: 3 })],
    })
    const [gate, eye] = [await connect(server.url), await connect(server.url)]
    try {
      // It stops in the middle of the first one: then all three have been seen, and the others are not locked yet.
      await gate.query({
        text: `create function ${schema}.hold() returns trigger language plpgsql as $$
            begin perform pg_advisory_xact_lock(77); return old; end $$;
          create trigger hold before delete on ${schema}.operation for each row execute function ${schema}.hold();
          select pg_advisory_lock(77)`,
      })
      const purging = store.purge(ever, 10)
      await untilOneWaits(eye, schema)
      await put(store, 'second', {
        instance: instanceRow('second', { lastOperationId: 'again' }),
        operations: [operationRow('again', 'second')],
      })
      await put(store, 'home', {
        bindings: [bindingRow('home', 'b', { lastOperationId: 'bound again' })],
        operations: [operationRow('bound again', 'home', { bindingId: 'b' })],
      })
      await gate.query({ text: 'select pg_advisory_unlock(77)' })
      expect(await purging).toBe(1)
    } finally {
      await gate.end()
      await eye.end()
    }
    expect(await store.instance('first')).toBeUndefined()
    expect([(await store.instance('second'))?.phase, (await store.history('second')).length]).toEqual(['creating', 1])
    expect((await store.binding('home', 'b'))?.phase).toBe('creating')
    expect((await store.claim('w', 10, 1_000)).claims.map(({ operation }) => operation.id).sort()).toEqual([
      'again',
      'bound again',
    ])
  })

  it('shows a request that has seen the tombstone what is there now', async () => {
    const schema = newSchema()
    const store = await openStore({ url: server.url, schema })
    await bury(store, 'i', 1)
    const [purger, eye] = [await connect(server.url), await connect(server.url)]
    const seen: (string | undefined)[] = []
    try {
      await purger.query({ text: `begin; select ${schema}.purge(${ever}, 10)` })
      const accepted = store.accept({ instanceId: 'i' }, ({ instance }: Snapshot) => {
        seen.push(instance?.phase)
        const operations = [operationRow('again', 'i')]
        return { answer: 0, change: { instance: instanceRow('i', { lastOperationId: 'again' }), operations } }
      })
      await untilOneWaits(eye, schema)
      await purger.query({ text: 'commit' })
      await accepted
    } finally {
      await purger.end()
      await eye.end()
    }
    expect(seen.at(-1)).toBeUndefined()
    expect((await store.instance('i'))?.phase).toBe('creating')
    expect([await store.operation('i:delete'), (await store.operation('again'))?.state]).toEqual([undefined, 'queued'])
  })

  it('passes by what another replica is at work on', async () => {
    const schema = newSchema()
    const store = await openStore({ url: server.url, schema })
    await bury(store, 'held', 1)
    await bury(store, 'free', 2)
    const other = await connect(server.url)
    try {
      await other.query({ text: `begin; select 1 from ${schema}.instance where id = 'held' for no key update` })
      expect(await store.purge(ever, 10)).toBe(1)
      await other.query({ text: 'commit' })
    } finally {
      await other.end()
    }
    expect([await store.instance('free'), (await store.instance('held'))?.phase]).toEqual([undefined, 'deleted'])
    expect(await store.purge(ever, 10)).toBe(1)
  })
})

function put(store: Store, instanceId: string, change: Change): Promise<number> {
  return store.accept({ instanceId, bindingId: 'b' }, () => ({ answer: 0, change }))
}

function bury(store: Store, id: string, deletedAt: number): Promise<number> {
  return put(store, id, {
    instance: instanceRow(id, { phase: 'deleted', deletedAt, lastOperationId: `${id}:delete` }),
    operations: [operationRow(`${id}:delete`, id, { state: 'succeeded', finishedAt: 1 })],
    history: [{ at: 1, type: 'succeeded', instanceId: id }],
  })
}

/** A statement on the schema waits for a lock. */
async function untilOneWaits(eye: Connection, schema: string): Promise<void> {
  const text = `select count(*)::integer as waiting from pg_stat_activity
    where wait_event_type = 'Lock' and query like '%${schema}%'`
  for (;;) {
    const { rows } = await eye.query({ text })
    if (Number(rows[0]?.waiting) > 0) return
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}
