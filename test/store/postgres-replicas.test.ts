import { expect, it, onTestFinished } from 'vitest'
import type { Store, WakeUp } from '../../src/store.ts'
import {
  bind,
  bindingRow,
  claimOne,
  finish,
  instanceRow,
  leaseOf,
  operationRow,
  provision,
  standing,
  stepRow,
  supersede,
} from '../../src/testing/store-contract/rows.ts'
import type { PostgresServer } from '../external/postgres.ts'
import { connect } from '../external/postgres-connection.ts'
import { describePostgres, newSchema, openStore } from './postgres-subject.ts'

const leaseTime = 600_000

describePostgres('postgres with several replicas', server => {
  it('accepts one of fifty equal requests, and gives its operation to all', async () => {
    const stores = await openThree(server)
    for (let round = 0; round < 5; round += 1) {
      const answers = await Promise.all(times(50, index => put(pick(stores, index), `i${round}`, `${round}:${index}`)))
      expect(new Set(answers).size).toBe(1)
      const rows = await Promise.all(times(50, index => pick(stores, index).operation(`${round}:${index}`)))
      expect(rows.filter(row => row !== undefined)).toHaveLength(1)
      expect(await pick(stores, 0).history(`i${round}`)).toHaveLength(1)
    }
  })

  it('loses no decision, however many replicas change one instance', async () => {
    const stores = await openThree(server)
    await Promise.all(
      times(60, index =>
        pick(stores, index).accept({ instanceId: 'i' }, ({ instance }) => ({
          answer: undefined,
          change: { instance: instanceRow('i', { updatedAt: (instance?.updatedAt ?? 0) + 1 }) },
        })),
      ),
    )
    expect((await pick(stores, 0).instance('i'))?.updatedAt).toBe(60)
  })

  it('counts the bindings that other replicas make', async () => {
    const stores = await openThree(server)
    await standing(pick(stores, 0), 'i')
    const seen = await Promise.all(
      times(30, index =>
        pick(stores, index).accept({ instanceId: 'i', bindingId: `b${index}` }, ({ busyBindings }) => ({
          answer: busyBindings,
          change: {
            bindings: [bindingRow('i', `b${index}`)],
            operations: [operationRow(`o${index}`, 'i', { action: 'bind', bindingId: `b${index}` })],
          },
        })),
      ),
    )
    expect(seen.sort((one, other) => one - other)).toEqual(times(30, index => index))
  })

  it('counts what another replica is about to write', async () => {
    const schema = newSchema()
    const stores = [await openStore({ url: server.url, schema }), await openStore({ url: server.url, schema })]
    const admin = await connect(server.url)
    onTestFinished(() => admin.end())
    // Whoever has counted cannot end its transaction while this connection has the lock.
    const lock = 4_711
    await admin.query({
      text: `create function ${schema}.wait() returns trigger language plpgsql as
          $$ begin perform pg_advisory_xact_lock_shared(${lock}); return null; end $$;
        create constraint trigger wait after insert on ${schema}.instance deferrable initially deferred
          for each row execute function ${schema}.wait();
        select pg_advisory_lock(${lock})`,
    })
    const puts = stores.map((store, index) =>
      store.accept({ instanceId: `i${index}` }, () => ({
        answer: 'new',
        change: { instance: instanceRow(`i${index}`), within: { platform: 'cf', instances: 1 } },
      })),
    )
    const waiting = { text: `select from pg_locks where locktype = 'advisory' and not granted` }
    while ((await admin.query(waiting)).rows.length < 2) await new Promise(resolve => setTimeout(resolve, 20))
    await admin.query({ text: `select pg_advisory_unlock(${lock})` })
    const ends = await Promise.allSettled(puts)
    expect(ends.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  })

  it('hands each operation to one owner', async () => {
    const stores = await openThree(server)
    await Promise.all(times(150, index => provision(pick(stores, index), `i${index}`)))
    const rounds = await Promise.all(times(30, index => pick(stores, index).claim(`w${index}`, 10, leaseTime)))
    const claims = rounds.flatMap(round => [...round.claims])
    expect(claims).toHaveLength(150)
    expect(new Set(claims.map(claim => claim.operation.id)).size).toBe(150)
    expect(new Set(claims.map(claim => claim.operation.fence)).size).toBe(150)
  })

  it('lets a DELETE win over a claim, or wait for it, but not overlook it', async () => {
    const stores = await openThree(server)
    await Promise.all(times(40, index => provision(pick(stores, index), `i${index}`)))
    await Promise.all(
      times(40, index => [
        pick(stores, index + 1).claim(`w${index}`, 1, leaseTime),
        supersede(pick(stores, index), `i${index}`, `i${index}:delete`),
      ]).flat(),
    )
    for (const index of times(40, index => index)) {
      const [old, next] = await Promise.all(
        ['provision', 'delete'].map(name => pick(stores, 0).operation(`i${index}:${name}`)),
      )
      expect(old?.state).toBe('superseded')
      // A claimed one keeps its fence and its lease, and the DELETE waits for the lease to end.
      if ((old?.fence ?? 0) > 0 && (next?.fence ?? 0) === 0) expect(next?.notBefore).toBe(old?.leaseUntil)
      else expect(old?.fence).toBe(0)
    }
  })

  it('never deadlocks: all kinds of writes on the same rows at once', async () => {
    const stores = await openThree(server)
    const [first] = stores
    await provision(first, 'i')
    await bind(first, 'i', 'b')
    await bind(first, 'i', 'c')
    const leases = (await first.claim('w', 3, leaseTime)).claims.map(leaseOf)
    const touch = (store: Store, bindingId: string) =>
      store.accept({ instanceId: 'i', bindingId }, ({ instance, operation, binding, bindingOperation }) => ({
        answer: undefined,
        change: {
          ...(instance && { instance }),
          ...(binding && { bindings: [binding] }),
          operations: [operation, bindingOperation].filter(row => row !== undefined),
        },
      }))
    const writes = times(25, round =>
      stores.flatMap((store, index) => [
        store.renew(round % 2 === 0 ? leases : [...leases].reverse(), leaseTime),
        ...leases.map(lease => store.checkpoint(lease, { state: { round } })),
        ...leases.map(lease => store.share(lease, `key${round % 2}`, round % 3 === 0 ? 'acquire' : 'release')),
        touch(store, index % 2 === 0 ? 'b' : 'c'),
        store.claim('other', 5, leaseTime),
      ]),
    )
    for (const round of writes) await Promise.all(round)
    expect((await first.instance('i'))?.state).toEqual({ round: 24 })
    expect(await Promise.all(leases.map(lease => finish(first, lease)))).toEqual([true, true, true])
  })

  it('lets one of many replicas make a shared resource', async () => {
    const stores = await openThree(server)
    for (const index of times(15, index => index)) await provision(pick(stores, index), `i${index}`)
    const { claims } = await pick(stores, 0).claim('w', 15, leaseTime)
    const answers = await Promise.all(
      claims.map((claim, index) => pick(stores, index).share(leaseOf(claim), 'key', 'acquire')),
    )
    expect(answers.filter(answer => answer === 'do')).toHaveLength(1)
    expect(answers.filter(answer => answer === 'busy')).toHaveLength(14)
  })

  it('wakes the other replicas: for work, and for an end', async () => {
    const [one, other] = await openThree(server)
    const work = heard(other, wakeUp => wakeUp.type === 'work')
    await provision(one, 'i')
    await work
    const ended = heard(other, wakeUp => wakeUp.type === 'finished' && wakeUp.operationId === 'i:provision')
    await finish(one, leaseOf(await claimOne(one)))
    await ended
    expect((await other.operation('i:provision'))?.state).toBe('succeeded')
  })

  it('keeps two brokers in two schemas apart', async () => {
    const one = await openStore({ url: server.url, schema: newSchema() })
    const other = await openStore({ url: server.url, schema: newSchema() })
    await provision(one, 'i')
    expect(await other.instance('i')).toBeUndefined()
    expect((await other.claim('w', 5, leaseTime)).claims).toEqual([])
    await provision(other, 'i')
    expect(await finish(other, leaseOf(await claimOne(other)))).toBe(true)
    expect((await claimOne(one)).operation.state).toBe('running')
  })

  it('goes by the clock of the database', async () => {
    const schema = newSchema()
    const store = await openStore({ url: server.url, schema, clock: { now: () => 0, after: () => () => {} } })
    const admin = await connect(server.url)
    const read = async () => Number((await admin.query({ text: `select ${schema}.now_ms() as now` })).rows[0]?.now)
    const before = await read()
    const { now } = await store.claim('w', 1, leaseTime)
    const after = await read()
    await admin.end()
    expect(before > 1_700_000_000_000 && before <= now && now <= after).toBe(true)
    const snapshot = await store.accept({ instanceId: 'i' }, answer => ({ answer }))
    expect(snapshot.now).toBeGreaterThanOrEqual(after)
  })

  it('keeps the order of a worker’s writes, though they use many connections', async () => {
    const [store] = await openThree(server)
    await provision(store, 'i')
    const lease = leaseOf(await claimOne(store))
    const written = await Promise.all([
      ...times(20, index => store.checkpoint(lease, { description: `at ${index}`, step: stepRow(`s${index}`) })),
      store.park(lease, { until: 0 }),
      store.checkpoint(lease, { description: 'too late' }),
    ])
    expect(written).toEqual([...times(21, () => true), false])
    const { operation, steps } = await claimOne(store)
    expect(operation.description).toBe('at 19')
    expect(steps.map(step => step.name)).toEqual(times(20, index => `s${index}`))
  })
})

async function openThree({ url }: PostgresServer): Promise<[Store, Store, Store]> {
  const schema = newSchema()
  return [await openStore({ url, schema }), await openStore({ url, schema }), await openStore({ url, schema })]
}

function pick(stores: readonly Store[], index: number): Store {
  const store = stores[index % stores.length]
  if (store === undefined) throw new Error('no store')
  return store
}

function times<Result>(count: number, make: (index: number) => Result): Result[] {
  return Array.from({ length: count }, (_, index) => make(index))
}

/** Accepts unless something is under way, as a PUT does. */
function put(store: Store, id: string, operationId: string): Promise<string> {
  return store.accept({ instanceId: id }, ({ operation, now }) => {
    if (operation !== undefined) return { answer: operation.id }
    return {
      answer: operationId,
      change: {
        instance: instanceRow(id),
        operations: [operationRow(operationId, id)],
        history: [{ at: now, type: 'accepted', instanceId: id, operationId }],
      },
    }
  })
}

function heard(store: Store, isIt: (wakeUp: WakeUp) => boolean): Promise<void> {
  return new Promise(resolve => {
    const stop = store.onWakeUp(wakeUp => {
      if (!isIt(wakeUp)) return
      stop()
      resolve()
    })
  })
}
