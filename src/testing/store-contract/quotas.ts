import { overQuota, type Within } from '../../domain/quota.ts'
import type { Change, Store } from '../../store.ts'
import { assert } from './assert.ts'
import { bindingRow, claimOne, finish, instanceRow, leaseOf, operationRow, provision, standing, view } from './rows.ts'
import { storeCase } from './subject.ts'

const strange = `Ü "quoted" \\ ${'x'.repeat(300)}`

function put(store: Store, id: string, within: Omit<Within, 'platform'>, platform = 'cf'): Promise<string> {
  const operation = operationRow(`${id}:provision`, id, { platform })
  const change: Change = {
    instance: instanceRow(id, { platform }),
    operations: [operation],
    within: { platform, ...within },
  }
  // As a decision does: who repeats it gets what there is.
  return store.accept({ instanceId: id }, snapshot =>
    snapshot.instance === undefined ? { answer: 'new', change } : { answer: 'known' },
  )
}

function bindWithin(store: Store, instanceId: string, id: string, bindings: number): Promise<string> {
  const operation = operationRow(`${instanceId}:${id}:bind`, instanceId, {
    action: 'bind',
    bindingId: id,
    platform: 'cf',
  })
  const change: Change = {
    bindings: [bindingRow(instanceId, id)],
    operations: [operation],
    within: { platform: 'cf', bindings },
  }
  return store.accept({ instanceId, bindingId: id }, snapshot =>
    snapshot.binding === undefined ? { answer: 'new', change } : { answer: 'known' },
  )
}

async function outcomes(calls: readonly Promise<string>[]): Promise<Record<string, number>> {
  const counted: Record<string, number> = {}
  for (const call of await Promise.allSettled(calls)) {
    const name = call.status === 'fulfilled' ? call.value : String(call.reason.code)
    counted[name] = (counted[name] ?? 0) + 1
  }
  return counted
}

const times = <Made>(count: number, make: (index: number) => Made) => Array.from({ length: count }, (_, i) => make(i))

export const quotaCases = [
  storeCase('quota: an instance too many is refused, and nothing of it is written', async ({ store }) => {
    const limit = { instances: 2 }
    for (const id of ['a', 'b']) assert.equal(await put(store, id, limit), 'new')
    const refusal = overQuota('instances', { platform: 'cf', ...limit })
    await assert.rejects(put(store, 'c', limit), { code: 'QuotaExceeded', status: 422, message: refusal.message })
    assert.deepEqual(await view(store, 'c', 'c:provision'), {
      instance: undefined,
      bindings: [],
      history: [],
      operations: [undefined],
    })
    assert.equal(await put(store, 'a', limit), 'known', 'who repeats a request is told so')
    assert.equal(await put(store, 'd', limit, 'kube'), 'new', 'other platforms have their own')
    await assert.rejects(put(store, 'e', { instances: 0 }, strange), { code: 'QuotaExceeded' })
    assert.equal(await put(store, 'e', { instances: 1 }, strange), 'new')
    await assert.rejects(put(store, 'f', { instances: 1 }, strange), { code: 'QuotaExceeded' })
  }),

  storeCase('quota: what is deleted makes room, and what failed does not', async ({ store }) => {
    await standing(store, 'failed', { phase: 'failed', usable: false })
    await standing(store, 'gone', { phase: 'deleted', deletedAt: 5 })
    await assert.rejects(put(store, 'i', { instances: 1 }), { code: 'QuotaExceeded' })
    await standing(store, 'failed', { phase: 'deleted', deletedAt: 6 })
    assert.equal(await put(store, 'i', { instances: 1 }), 'new')
  }),

  storeCase('quota: of many at once, as many as there is room for', async ({ store }) => {
    await standing(store, 'first')
    const calls = times(12, index => put(store, `i${index}`, { instances: 5 }))
    assert.deepEqual(await outcomes(calls), { new: 4, QuotaExceeded: 8 })
    assert.equal((await store.platformUse('cf')).instances, 5)
  }),

  storeCase('quota: one request that comes many times at once counts once', async ({ store }) => {
    const calls = times(6, () => put(store, 'i', { instances: 1, operations: 1 }))
    assert.deepEqual(await outcomes(calls), { new: 1, known: 5 })
  }),

  storeCase('quota: bindings are counted over all instances of the platform', async ({ store }) => {
    for (const id of ['i', 'j']) await standing(store, id)
    await standing(store, 'other', { platform: 'kube' })
    const other = { bindings: [bindingRow('other', 'b', { phase: 'ready' })] }
    await store.accept({ instanceId: 'other' }, () => ({ answer: 0, change: other }))
    const deleted = { bindings: [bindingRow('i', 'gone', { phase: 'deleted', deletedAt: 5 })] }
    await store.accept({ instanceId: 'i' }, () => ({ answer: 0, change: deleted }))
    const calls = times(10, index => bindWithin(store, index % 2 === 0 ? 'i' : 'j', `b${index}`, 3))
    assert.deepEqual(await outcomes(calls), { new: 3, QuotaExceeded: 7 })
    assert.deepEqual(await store.platformUse('cf'), { instances: 2, bindings: 3, operations: 3 })
    const [first] = await store.bindings('i')
    if (first !== undefined) assert.equal(await bindWithin(store, 'i', first.id, 3), 'known')
  }),

  storeCase('quota: operations count until they end, but for the broker’s own', async ({ store, clock }) => {
    await provision(store, 'observed', { platform: 'cf', action: 'observe', notBefore: clock.now() + 5_000 })
    await provision(store, 'swept', { platform: 'cf', action: 'sweep', notBefore: clock.now() + 5_000 })
    const limit = { operations: 2 }
    assert.deepEqual(await outcomes(times(5, index => put(store, `i${index}`, limit))), { new: 2, ConcurrencyError: 3 })
    await assert.rejects(put(store, 'late', limit), { code: 'ConcurrencyError', status: 422, retryAfter: 5 })
    assert.ok(await finish(store, leaseOf(await claimOne(store))))
    assert.equal(await put(store, 'late', limit), 'new')
  }),

  storeCase('quota: what each platform has', async ({ store }) => {
    assert.deepEqual(await store.platforms(), [])
    assert.deepEqual(await store.platformUse('cf'), { instances: 0, bindings: 0, operations: 0 })
    for (const platform of ['kube', 'cf', strange]) {
      await put(store, `${platform.length}-one`, {}, platform)
      await standing(store, `${platform.length}-two`, { platform })
    }
    await standing(store, 'gone', { platform: 'left', phase: 'deleted', deletedAt: 5 })
    assert.deepEqual([...(await store.platforms())].sort(), ['cf', 'kube', strange].sort())
    for (const platform of ['kube', 'cf', strange])
      assert.deepEqual(await store.platformUse(platform), { instances: 2, bindings: 0, operations: 1 })
  }),
]
