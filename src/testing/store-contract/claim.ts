import { assert } from './assert.ts'
import { bind, claimOne, leaseOf, leaseTime, present, provision, standing, stepRow, supersede } from './rows.ts'
import { storeCase } from './subject.ts'

export const claimCases = [
  storeCase('claim: leases a due operation and says what its run needs', async ({ store, clock }) => {
    await provision(store, 'i', { description: 'accepted', input: { parameters: { size: 1 } } })
    const { claims, now } = await store.claim('worker', 5, leaseTime)
    assert.equal(now, clock.now())
    assert.equal(claims.length, 1)
    const [claim] = claims
    assert.ok(claim)
    assert.deepEqual(claim.operation, await store.operation('i:provision'))
    const { state, attempt, losses, leaseOwner, leaseUntil, checkpointAt, unclean } = claim.operation
    assert.deepEqual(
      { state, attempt, losses, leaseOwner, leaseUntil, checkpointAt, unclean },
      {
        state: 'running',
        attempt: 1,
        losses: 0,
        leaseOwner: 'worker',
        leaseUntil: now + leaseTime,
        checkpointAt: now,
        unclean: false,
      },
    )
    assert.deepEqual(claim.operation.input, { parameters: { size: 1 } })
    assert.deepEqual(
      [claim.instance, claim.binding, claim.steps, claim.takenOver],
      [await store.instance('i'), undefined, [], false],
    )
  }),

  storeCase(
    'claim: brings the binding of a binding operation, and the steps in their order',
    async ({ store, clock }) => {
      await standing(store, 'i')
      await bind(store, 'i', 'b')
      const first = leaseOf(await claimOne(store))
      const steps = [stepRow('z', { output: { a: 1 } }), stepRow('a', { state: 'failed', attempts: 2, error: 'no' })]
      for (const step of steps) await store.checkpoint(first, { step })
      await store.park(first, { until: clock.now() })
      const claim = await claimOne(store)
      assert.deepEqual([claim.binding, claim.steps], [await store.binding('i', 'b'), steps])
    },
  ),

  storeCase('claim: nothing due, nothing claimed', async ({ store, clock }) => {
    assert.deepEqual(present(await store.claim('w', 5, leaseTime)), { claims: [], now: clock.now() })
    for (const state of ['succeeded', 'failed', 'superseded'] as const) await provision(store, state, { state })
    assert.deepEqual(present(await store.claim('w', 5, leaseTime)), { claims: [], now: clock.now() })
  }),

  storeCase('claim: an operation is due from its time on, and not before', async ({ store, clock }) => {
    const at = clock.now() + 1000
    await provision(store, 'i', { notBefore: at })
    assert.deepEqual(await store.claim('w', 5, leaseTime), { claims: [], now: clock.now(), nextAt: at })
    await clock.advance(999)
    assert.equal((await store.claim('w', 5, leaseTime)).claims.length, 0)
    await clock.advance(1)
    assert.equal((await store.claim('w', 5, leaseTime)).claims.length, 1)
  }),

  storeCase('claim: the oldest due first, at most as many as asked for', async ({ store, clock }) => {
    for (const [id, notBefore] of [
      ['third', 30],
      ['first', 10],
      ['second', 20],
      ['future', clock.now() + 7],
    ] as const) {
      await provision(store, id, { notBefore })
    }
    const { claims, nextAt } = await store.claim('w', 2, leaseTime)
    assert.deepEqual([claims.map(claim => claim.instance.id), nextAt], [['first', 'second'], 30])
    const rest = await store.claim('w', 2, leaseTime)
    assert.deepEqual([rest.claims.map(claim => claim.instance.id), rest.nextAt], [['third'], clock.now() + 7])
  }),

  storeCase('claim: leases that run out take their place in the order of due times', async ({ store, clock }) => {
    await provision(store, 'lost')
    await store.claim('w', 1, 1000)
    const lostAt = clock.now() + 1000
    await provision(store, 'later', { notBefore: lostAt + 1 })
    await provision(store, 'earlier', { notBefore: lostAt - 1 })
    await clock.advance(2000)
    const { claims } = await store.claim('w', 3, leaseTime)
    assert.deepEqual(
      claims.map(claim => claim.instance.id),
      ['earlier', 'lost', 'later'],
    )
  }),

  storeCase('claim: none asked for, none given', async ({ store }) => {
    await provision(store, 'i', { notBefore: 5 })
    const { claims, nextAt } = await store.claim('w', 0, leaseTime)
    assert.deepEqual([claims, nextAt], [[], 5])
    assert.equal((await store.operation('i:provision'))?.state, 'queued')
  }),

  storeCase(
    'claim: says when the next one is due, other holders’ leases included, its own not',
    async ({ store, clock }) => {
      await provision(store, 'a')
      assert.equal((await store.claim('w', 1, 5000)).nextAt, undefined)
      const aEnds = clock.now() + 5000
      await provision(store, 'b')
      await provision(store, 'c', { notBefore: clock.now() + 9000 })
      assert.equal((await store.claim('w', 1, 1000)).nextAt, aEnds)
    },
  ),

  storeCase('claim: a held lease is nobody else’s', async ({ store, clock }) => {
    await provision(store, 'i')
    await store.claim('one', 1, 1000)
    await clock.advance(999)
    assert.equal((await store.claim('other', 1, 1000)).claims.length, 0)
  }),

  storeCase('claim: a lease that ran out is taken over, and counted as a loss', async ({ store, clock }) => {
    await provision(store, 'i')
    const first = await claimOne(store)
    await clock.advance(leaseTime)
    const second = await claimOne(store, 'other')
    assert.equal(second.takenOver, true)
    const { attempt, losses, unclean, leaseOwner, leaseUntil, checkpointAt } = second.operation
    assert.deepEqual(
      { attempt, losses, unclean, leaseOwner, leaseUntil, checkpointAt },
      {
        attempt: 2,
        losses: 1,
        unclean: true,
        leaseOwner: 'other',
        leaseUntil: clock.now() + leaseTime,
        checkpointAt: first.operation.checkpointAt,
      },
    )
    await clock.advance(leaseTime)
    assert.equal((await claimOne(store)).operation.losses, 2)
  }),

  storeCase('claim: an operation stays unclean once it was taken over', async ({ store, clock }) => {
    await provision(store, 'i')
    await claimOne(store)
    await clock.advance(leaseTime)
    await store.park(leaseOf(await claimOne(store)), { until: clock.now() })
    const { operation, takenOver } = await claimOne(store)
    assert.deepEqual([operation.unclean, operation.losses, takenOver], [true, 1, false])
  }),

  storeCase('claim: fences rise over all operations and all claims', async ({ store, clock }) => {
    const fences: number[] = []
    for (const id of ['a', 'b', 'c', 'd']) await provision(store, id)
    for (let round = 0; round < 3; round += 1) {
      for (const max of [3, 1]) {
        const { claims } = await store.claim('w', max, 1000)
        fences.push(...claims.map(claim => claim.operation.fence))
      }
      await clock.advance(1000)
    }
    assert.equal(fences.length, 12)
    assert.deepEqual(
      fences,
      [...new Set(fences)].sort((one, other) => one - other),
    )
    assert.ok((fences[0] ?? 0) > 0)
  }),

  storeCase(
    'claim: a successor waits until the lease of the superseded operation is over',
    async ({ store, clock }) => {
      await provision(store, 'i')
      await claimOne(store)
      await supersede(store, 'i', 'delete')
      assert.deepEqual(await store.claim('w', 1, leaseTime), {
        claims: [],
        now: clock.now(),
        nextAt: clock.now() + leaseTime,
      })
      await clock.advance(leaseTime)
      const { operation, takenOver } = await claimOne(store)
      assert.deepEqual([operation.id, operation.attempt, takenOver], ['delete', 1, false])
    },
  ),

  storeCase('claim: a thousand operations in batches, each once, in order', async ({ store }) => {
    const ids = Array.from({ length: 1000 }, (_, index) => `i${index}`)
    await Promise.all(ids.map((id, index) => provision(store, id, { notBefore: index + 1 })))
    const claimed: string[] = []
    for (;;) {
      const { claims } = await store.claim('w', 64, leaseTime)
      if (claims.length === 0) break
      claimed.push(...claims.map(claim => claim.instance.id))
    }
    assert.deepEqual(claimed, ids)
  }),

  storeCase('renew: extends the leases that are still held and says which', async ({ store, clock }) => {
    for (const id of ['a', 'b']) await provision(store, id)
    const { claims } = await store.claim('w', 2, 1000)
    const [a, b] = claims.map(leaseOf)
    assert.ok(a && b)
    await clock.advance(999)
    assert.deepEqual(await store.renew([a, { ...b, fence: b.fence + 100 }, { operationId: 'none', fence: 1 }], 5000), [
      a,
    ])
    assert.equal((await store.operation(a.operationId))?.leaseUntil, clock.now() + 5000)
    assert.equal((await store.operation(b.operationId))?.leaseUntil, clock.now() + 1)
    await clock.advance(1)
    assert.deepEqual(
      (await store.claim('other', 5, 1000)).claims.map(claim => claim.operation.id),
      [b.operationId],
    )
    assert.deepEqual(await store.renew([], 5000), [])
  }),

  storeCase('renew: a lease that is over is not revived, even if nobody took it', async ({ store, clock }) => {
    await provision(store, 'i')
    const claim = await claimOne(store)
    await clock.advance(leaseTime)
    assert.deepEqual(await store.renew([leaseOf(claim)], leaseTime), [])
    assert.deepEqual(await store.operation('i:provision'), claim.operation)
  }),
]
