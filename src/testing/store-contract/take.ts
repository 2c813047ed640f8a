import type { Claim, Operation, Store, Taker } from '../../store.ts'
import { assert } from './assert.ts'
import {
  bindingRow,
  claimOne,
  finish,
  instanceRow,
  leaseOf,
  leaseTime,
  operationRow,
  present,
  provision,
} from './rows.ts'
import { storeCase } from './subject.ts'

/** What is accepted by a process that can run it: leased at once, or left in the queue. Both have to end alike. */
export const takeCases = [
  storeCase('take: what is accepted is leased to the taker as by a claim, or is in the queue', async ({ store }) => {
    const { claim, now } = await acceptFor(store, 'i')
    const { acceptedAt, checkpointAt, fence } = claim.operation
    const lease = { leaseOwner: 'taker', leaseUntil: now + leaseTime, fence, checkpointAt }
    const leased = newOperation('i', acceptedAt, { state: 'running', attempt: 1, ...lease })
    assert.deepEqual(present(claim.operation), leased)
    assert.ok(checkpointAt !== undefined && checkpointAt <= now && fence > 0)
    assert.deepEqual(claim.instance, instanceRow('i'))
    assert.deepEqual([claim.binding, claim.steps, claim.takenOver], [undefined, [], false])
    assert.deepEqual(await store.operation('i:provision'), claim.operation)
    assert.deepEqual((await store.claim('other', 10, leaseTime)).claims, [])
  }),

  storeCase(
    'take: the lease is one like any other: it is renewed, runs out, and is taken over',
    async ({ store, clock }) => {
      const { claim } = await acceptFor(store, 'i')
      assert.equal((await store.renew([leaseOf(claim)], leaseTime)).length, 1)
      await clock.advance(leaseTime - 1)
      assert.deepEqual((await store.claim('other', 10, leaseTime)).claims, [])
      await clock.advance(1)
      const later = await claimOne(store)
      assert.ok(later.takenOver && later.operation.unclean && later.operation.fence > claim.operation.fence)
      assert.equal(await finish(store, leaseOf(claim)), false)
      assert.equal(await finish(store, leaseOf(later)), true)
    },
  ),

  storeCase('take: the holder ends it, and its rows are as after a claim', async ({ store }) => {
    const { claim } = await acceptFor(store, 'i')
    const lease = leaseOf(claim)
    const done = { name: 's', state: 'done', attempts: 1, startedAt: 1, output: 1 } as const
    assert.equal(await store.checkpoint(lease, { step: done, description: 'half way' }), true)
    const before = await store.operation('i:provision')
    const seen: unknown[] = []
    await store.finish(lease, ({ finishing, instance, operation, liveBindings, busyBindings }) => {
      const { checkpointAt, ...others } = finishing
      seen.push(others, instance, operation?.id, liveBindings, busyBindings)
      return { operations: [{ ...finishing, state: 'succeeded', finishedAt: 2 }] }
    })
    const { checkpointAt, ...others } = before ?? {}
    assert.deepEqual(seen, [others, instanceRow('i'), 'i:provision', 0, 0])
    assert.equal((await store.operation('i:provision'))?.state, 'succeeded')
  }),

  storeCase('take: what somebody has changed since is seen by the end', async ({ store }) => {
    const { claim } = await acceptFor(store, 'i')
    await store.accept({ instanceId: 'i' }, ({ instance }) => ({
      answer: 0,
      change: instance && { instance: { ...instance, dashboardToken: 'another' } },
    }))
    const seen: unknown[] = []
    await store.finish(leaseOf(claim), ({ finishing, instance }) => {
      seen.push(instance?.dashboardToken)
      return { operations: [{ ...finishing, state: 'succeeded', finishedAt: 2 }] }
    })
    assert.equal(seen.at(-1), 'another')
  }),

  storeCase('take: what was superseded cannot be ended', async ({ store }) => {
    const { claim } = await acceptFor(store, 'i')
    await store.accept({ instanceId: 'i' }, ({ operation, now }) => ({
      answer: 0,
      change: operation && { operations: [{ ...operation, state: 'superseded', finishedAt: now }] },
    }))
    assert.equal(await finish(store, leaseOf(claim)), false)
  }),

  storeCase('take: nothing is leased that waits for its time, or has run before', async ({ store }) => {
    const taken: Claim[] = []
    await provision(store, 'i', { state: 'succeeded' })
    const others: Partial<Operation>[] = [{ notBefore: 1_000_000 }, { attempt: 1 }, { acceptedAt: 0 }]
    for (const [n, other] of others.entries())
      await store.accept(
        { instanceId: `i-${n}` },
        ({ now }) => {
          const early = { notBefore: now + (other.notBefore ?? 0), acceptedAt: other.acceptedAt ?? now }
          const operation = operationRow(`o-${n}`, `i-${n}`, { ...other, ...early })
          return { answer: 0, change: { instance: instanceRow(`i-${n}`), operations: [operation] } }
        },
        taker(claim => taken.push(claim)),
      )
    assert.deepEqual(taken, [])
    assert.equal((await store.operation('o-0'))?.state, 'queued')
  }),

  storeCase('take: an operation of a binding is leased with its binding', async ({ store }) => {
    await provision(store, 'i', { state: 'succeeded' })
    const { claim } = await take(store, now => ({
      bindings: [bindingRow('i', 'b')],
      operations: [{ ...newOperation('i', now), id: 'i:b:bind', bindingId: 'b', action: 'bind' }],
    }))
    assert.deepEqual(claim.binding, bindingRow('i', 'b'))
    assert.equal(await finish(store, leaseOf(claim)), true)
  }),
]

function newOperation(instanceId: string, now: number, more: Partial<Operation> = {}): Operation {
  return operationRow(`${instanceId}:provision`, instanceId, { notBefore: now, acceptedAt: now, ...more })
}

function acceptFor(store: Store, id: string) {
  return take(store, now => ({ instance: instanceRow(id), operations: [newOperation(id, now)] }), id)
}

type Rows = NonNullable<Awaited<ReturnType<Parameters<Store['accept']>[1]>>['change']>

/** From the taker, or from a claim where the store leases nothing by itself. */
async function take(
  store: Store,
  rows: (now: number) => Rows,
  instanceId = 'i',
): Promise<{ claim: Claim; now: number }> {
  const taken: { claim: Claim; now: number }[] = []
  await store.accept(
    { instanceId, bindingId: 'b' },
    ({ now }) => ({ answer: 0, change: rows(now) }),
    taker((claim, now) => taken.push({ claim, now })),
  )
  if (taken[0] !== undefined) return taken[0]
  const { claims, now } = await store.claim('taker', 1, leaseTime)
  assert.equal(claims.length, 1)
  return { claim: claims[0] as Claim, now }
}

function taker(taken: Taker['taken']): Taker {
  return { owner: 'taker', leaseTime, wants: () => true, taken }
}
