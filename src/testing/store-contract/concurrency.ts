import type { Claim, Store } from '../../store.ts'
import { assert } from './assert.ts'
import {
  claimOne,
  finish,
  instanceRow,
  leaseOf,
  leaseTime,
  operationRow,
  provision,
  standing,
  supersede,
} from './rows.ts'
import { storeCase } from './subject.ts'

function times<Result>(count: number, make: (index: number) => Result): Result[] {
  return Array.from({ length: count }, (_, index) => make(index))
}

/** Accepts unless something is under way, as a PUT does. */
function put(store: Store, id: string, operationId: string): Promise<string> {
  return store.accept({ instanceId: id }, ({ operation }) => {
    if (operation !== undefined) return { answer: operation.id }
    return { answer: operationId, change: { instance: instanceRow(id), operations: [operationRow(operationId, id)] } }
  })
}

export const concurrencyCases = [
  storeCase('concurrency: of fifty equal requests one is accepted, and all get its operation', async ({ store }) => {
    const answers = await Promise.all(times(50, index => put(store, 'i', `o${index}`)))
    assert.equal(new Set(answers).size, 1)
    const rows = await Promise.all(times(50, index => store.operation(`o${index}`)))
    assert.equal(rows.filter(row => row !== undefined).length, 1)
  }),

  storeCase('concurrency: of fifty that do not look first, the index lets one through', async ({ store }) => {
    await standing(store, 'i')
    const change = (index: number) => ({
      instance: instanceRow('i', { updatedAt: index }),
      operations: [operationRow(`o${index}`, 'i')],
      history: [{ at: index, type: 'accepted', instanceId: 'i' } as const],
    })
    const outcomes = await Promise.allSettled(
      times(50, index => store.accept({ instanceId: 'i' }, () => ({ answer: index, change: change(index) }))),
    )
    const winners = outcomes.flatMap(outcome => (outcome.status === 'fulfilled' ? [outcome.value] : []))
    assert.equal(winners.length, 1)
    assert.deepEqual(
      (await store.history('i')).map(event => event.at),
      winners,
    )
    assert.equal((await store.instance('i'))?.updatedAt, winners[0])
  }),

  storeCase('concurrency: one bad write among many fails alone', async ({ store }) => {
    await standing(store, 'i')
    const outcomes = await Promise.allSettled([
      ...times(5, index => provision(store, `before${index}`)),
      store.accept({ instanceId: 'i' }, () => {
        throw new Error('refused')
      }),
      store.accept({ instanceId: 'i' }, () => ({ answer: '', change: { operations: [operationRow('o', 'nowhere')] } })),
      ...times(5, index => provision(store, `after${index}`)),
    ])
    assert.deepEqual(
      outcomes.map(outcome => outcome.status),
      [...times(5, () => 'fulfilled'), 'rejected', 'rejected', ...times(5, () => 'fulfilled')],
    )
    assert.equal((await store.claim('w', 20, leaseTime)).claims.length, 10)
  }),

  storeCase('concurrency: parallel claims never hand one operation to two owners', async ({ store }) => {
    await Promise.all(times(200, index => provision(store, `i${index}`)))
    const rounds = await Promise.all(times(20, owner => store.claim(`w${owner}`, 15, leaseTime)))
    const claims: Claim[] = rounds.flatMap(round => [...round.claims])
    assert.equal(claims.length, 200)
    assert.equal(new Set(claims.map(claim => claim.operation.id)).size, 200)
    assert.equal(new Set(claims.map(claim => claim.operation.fence)).size, 200)
    for (const { operation } of claims) assert.deepEqual(await store.operation(operation.id), operation)
  }),

  storeCase('concurrency: a finish and a DELETE that supersedes never both happen', async ({ store }) => {
    await Promise.all(times(30, index => provision(store, `i${index}`)))
    const { claims } = await store.claim('w', 30, leaseTime)
    const outcomes = await Promise.all(
      claims.flatMap((claim, index) => {
        const moves = [
          () => finish(store, leaseOf(claim)),
          () => supersede(store, claim.instance.id, `${claim.instance.id}:delete`),
        ]
        if (index % 2 === 1) moves.reverse()
        return moves.map(move => move())
      }),
    )
    for (const [index, claim] of claims.entries()) {
      assert.equal(outcomes.slice(index * 2, index * 2 + 2).filter(Boolean).length, 1)
      const ended = (await store.operation(claim.operation.id))?.state
      const successor = await store.operation(`${claim.instance.id}:delete`)
      assert.equal(ended, successor === undefined ? 'succeeded' : 'superseded')
    }
  }),

  storeCase('concurrency: a claim and a DELETE that supersedes leave one to run', async ({ store, clock }) => {
    await Promise.all(times(20, index => provision(store, `i${index}`)))
    await Promise.all(
      times(20, index => [store.claim('w', 1, leaseTime), supersede(store, `i${index}`, `i${index}:delete`)]).flat(),
    )
    await clock.advance(leaseTime)
    const { claims } = await store.claim('w', 100, leaseTime)
    assert.deepEqual(new Set(claims.map(claim => claim.operation.action)), new Set(['deprovision']))
    assert.equal(claims.length, 20)
  }),

  storeCase('concurrency: of two holders that finish at once only the latest does', async ({ store, clock }) => {
    await provision(store, 'i')
    const old = leaseOf(await claimOne(store))
    await clock.advance(leaseTime)
    const held = leaseOf(await claimOne(store))
    assert.deepEqual(await Promise.all([finish(store, old), finish(store, held), finish(store, held)]), [
      false,
      true,
      false,
    ])
  }),

  storeCase('concurrency: an expired lease is renewed or taken over, never both', async ({ store, clock }) => {
    await provision(store, 'i')
    const lease = leaseOf(await claimOne(store))
    await clock.advance(leaseTime)
    const [renewed, taken] = await Promise.all([store.renew([lease], leaseTime), store.claim('thief', 1, leaseTime)])
    assert.deepEqual([renewed.length, taken.claims.length], [0, 1])
  }),

  storeCase('concurrency: writes that were begun before close are done, or refused as a whole', async ({ store }) => {
    const writes = Promise.allSettled(times(20, index => provision(store, `i${index}`)))
    await store.close()
    for (const outcome of await writes) {
      if (outcome.status === 'rejected') assert.equal(outcome.reason.name, 'StoreUnavailableError')
    }
  }),
]
