import {
  CursorError,
  type Instance,
  type InstanceQuery,
  type ListQuery,
  type Operation,
  type OperationQuery,
  type Page,
  type Store,
} from '../../store.ts'
import { assert } from './assert.ts'
import { change, revisionRow } from './catalog-rows.ts'
import { bindingRow, claimOne, instanceRow, leaseOf, operationRow, provision, standing } from './rows.ts'
import { storeCase } from './subject.ts'

export const listCases = [
  storeCase('lists: an empty ledger has empty lists', async ({ store }) => {
    for (const list of [store.listInstances, store.listBindings, store.listOperations]) {
      const page = await list({})
      assert.deepEqual([page.items, page.next], [[], undefined])
    }
    assert.deepEqual((await store.listInstances()).items, [])
  }),

  storeCase('lists: instances, newest first unless the oldest are asked for', async ({ store }) => {
    await create(store, [
      ['b', 20],
      ['a', 30],
      ['c', 10],
    ])
    assert.deepEqual(await instances(store, {}), ['a', 'b', 'c'])
    assert.deepEqual(await instances(store, { order: 'newest' }), ['a', 'b', 'c'])
    assert.deepEqual(await instances(store, { order: 'oldest' }), ['c', 'b', 'a'])
  }),

  storeCase('lists: instances by platform, service, plan, revision, phase and use', async ({ store }) => {
    await change(store, { insertRevisions: [revisionRow('r1'), revisionRow('r2')] })
    const rows: [id: string, overrides: Partial<Instance>][] = [
      ['plain', {}],
      ['k8s', { platform: 'kubernetes' }],
      ['other', { serviceId: 'other', planId: 'small' }],
      ['large', { planId: 'large' }],
      ['pinned', { revisionId: 'r1' }],
      ['moving', { revisionId: 'r2', nextRevisionId: 'r1', phase: 'updating' }],
      ['broken', { usable: false, phase: 'failed' }],
      ['creating', { phase: 'creating' }],
      ['gone', { phase: 'deleted', deletedAt: 99 }],
    ]
    for (const [index, [id, overrides]] of rows.entries()) await standing(store, id, { createdAt: index, ...overrides })
    const oldest = (query: InstanceQuery) => instances(store, { ...query, order: 'oldest' })
    const all = rows.map(([id]) => id).slice(0, -1)
    const without = (...ids: string[]) => all.filter(id => !ids.includes(id))
    assert.deepEqual(await oldest({}), all, 'a deleted one shows only where it is asked for')
    assert.deepEqual(await oldest({ phase: 'deleted' }), ['gone'])
    assert.deepEqual(await oldest({ platform: 'kubernetes' }), ['k8s'])
    assert.deepEqual(await oldest({ platform: 'cf' }), without('k8s'))
    assert.deepEqual(await oldest({ serviceId: 'other' }), ['other'])
    assert.deepEqual(await oldest({ serviceId: 'service' }), without('other'))
    assert.deepEqual(await oldest({ planId: 'large' }), ['large'])
    assert.deepEqual(await oldest({ revisionId: 'r1' }), ['pinned'])
    assert.deepEqual(await oldest({ revisionId: 'r2' }), ['moving'])
    assert.deepEqual(await oldest({ phase: 'failed' }), ['broken'])
    assert.deepEqual(await oldest({ phase: 'ready' }), without('moving', 'broken', 'creating'))
    assert.deepEqual(await oldest({ usable: false }), ['broken'])
    assert.deepEqual(await oldest({ usable: true }), without('broken'))
    assert.deepEqual(await oldest({ serviceId: 'service', planId: 'plan', phase: 'creating' }), ['creating'])
    assert.deepEqual(await oldest({ serviceId: 'service', phase: 'deleted' }), ['gone'])
    assert.deepEqual(await oldest({ platform: 'none' }), [])
    assert.deepEqual(await oldest({ serviceId: '' }), [])
  }),

  storeCase('lists: a row that changes is found by what it has become', async ({ store }) => {
    await standing(store, 'i', { createdAt: 5, phase: 'creating' })
    await standing(store, 'i', { createdAt: 5, planId: 'large', usable: false })
    assert.deepEqual(await instances(store, { phase: 'creating' }), [])
    assert.deepEqual(await instances(store, { phase: 'ready', planId: 'large', usable: false }), ['i'])
    await standing(store, 'i', { createdAt: 5, phase: 'deleted', deletedAt: 6 })
    assert.deepEqual(await instances(store, {}), [])
    await standing(store, 'i', { createdAt: 50, serviceId: 'another' })
    assert.deepEqual(await instances(store, { serviceId: 'another' }), ['i'], 'an id that is used again')
  }),

  storeCase('lists: bindings by instance, service, plan and phase', async ({ store }) => {
    for (const [index, instanceId] of ['i', 'j'].entries()) {
      await standing(store, instanceId)
      const bindings = [
        bindingRow(instanceId, 'ready', { createdAt: 1 + index, phase: 'ready' }),
        bindingRow(instanceId, 'failed', { createdAt: 3 + index, phase: 'failed', serviceId: 'other', planId: 'x' }),
        bindingRow(instanceId, 'gone', { createdAt: 5 + index, phase: 'deleted', deletedAt: 9 }),
      ]
      await store.accept({ instanceId }, () => ({ answer: 0, change: { bindings } }))
    }
    const list = async (query: Parameters<Store['listBindings']>[0]) =>
      (await store.listBindings(query)).items.map(({ instanceId, id }) => `${instanceId} ${id}`)
    assert.deepEqual(await list({}), ['j failed', 'i failed', 'j ready', 'i ready'])
    assert.deepEqual(await list({ order: 'oldest' }), ['i ready', 'j ready', 'i failed', 'j failed'])
    assert.deepEqual(await list({ instanceId: 'j' }), ['j failed', 'j ready'])
    assert.deepEqual(await list({ instanceId: 'i', phase: 'deleted' }), ['i gone'])
    assert.deepEqual(await list({ phase: 'deleted' }), ['j gone', 'i gone'])
    assert.deepEqual(await list({ phase: 'ready' }), ['j ready', 'i ready'])
    assert.deepEqual(await list({ serviceId: 'other' }), ['j failed', 'i failed'])
    assert.deepEqual(await list({ planId: 'plan', instanceId: 'i' }), ['i ready'])
    assert.deepEqual(await list({ instanceId: 'none' }), [])
  }),

  storeCase('lists: operations by instance, binding, action and state', async ({ store }) => {
    await operationsOf(store)
    assert.deepEqual(await operations(store, {}), ['run', 'wait', 'old', 'bad', 'bind', 'ok'])
    assert.deepEqual(await operations(store, { order: 'oldest' }), ['ok', 'bind', 'bad', 'old', 'wait', 'run'])
    assert.deepEqual(await operations(store, { of: { instanceId: 'i' } }), ['wait', 'old', 'bad', 'bind', 'ok'])
    assert.deepEqual(await operations(store, { of: { instanceId: 'i', bindingId: 'b' } }), ['bind'])
    assert.deepEqual(await operations(store, { of: { instanceId: 'none' } }), [])
    assert.deepEqual(await operations(store, { action: 'update' }), ['wait', 'old', 'bad'])
    assert.deepEqual(await operations(store, { state: 'failed' }), ['bad'])
    assert.deepEqual(await operations(store, { state: 'superseded' }), ['old'])
    assert.deepEqual(await operations(store, { state: 'succeeded' }), ['bind', 'ok'])
    assert.deepEqual(await operations(store, { state: 'queued' }), ['run', 'wait'])
    assert.deepEqual(await operations(store, { state: 'failed', action: 'bind' }), [])
    const held = leaseOf(await claimOne(store))
    assert.deepEqual([held.operationId, await operations(store, { state: 'running' })], ['run', ['run']])
    assert.deepEqual(await operations(store, { state: 'running', of: { instanceId: 'i' } }), [])
    assert.deepEqual(await operations(store, { state: 'queued', order: 'oldest' }), ['wait'])
  }),

  storeCase('lists: operations by the time they were accepted, or ended', async ({ store }) => {
    await operationsOf(store)
    assert.deepEqual(await operations(store, { after: 2, before: 4 }), ['bad', 'bind'])
    assert.deepEqual(await operations(store, { after: 6 }), ['run'])
    assert.deepEqual(await operations(store, { by: 'finished' }), ['ok', 'old', 'bad', 'bind'])
    assert.deepEqual(await operations(store, { by: 'finished', order: 'oldest' }), ['bind', 'bad', 'old', 'ok'])
    assert.deepEqual(await operations(store, { by: 'finished', after: 20, before: 40 }), ['old', 'bad'])
    assert.deepEqual(await operations(store, { by: 'finished', state: 'failed', before: 40 }), ['bad'])
    assert.deepEqual(await operations(store, { by: 'finished', state: 'queued' }), [])
  }),

  storeCase('lists: show what people look at, and nothing that is sealed', async ({ store, clock }) => {
    const secret = { password: 'SEALED' }
    const { parameters, state, requestHash, dashboardToken, ...instance } = instanceRow('i', {
      parameters: secret,
      state: secret,
      maintenanceVersion: '1.2.3',
      conditions: [{ type: 'Ready', status: true, since: 1, observedAt: 1 }],
      deletedAt: 7,
    })
    const {
      requestHash: _,
      context,
      bindResource,
      ...sealedBinding
    } = bindingRow('i', 'b', {
      parameters: secret,
      state: secret,
      result: { credentials: secret },
      appGuid: 'app',
      expiresAt: 9,
    })
    const { parameters: _p, state: _s, result: _r, ...binding } = sealedBinding
    const error = { message: 'quota' }
    await store.accept({ instanceId: 'i' }, () => ({
      answer: 0,
      change: {
        instance: { ...instance, parameters, state, requestHash, dashboardToken },
        bindings: [{ ...sealedBinding, requestHash: 'h', context, bindResource }],
        operations: [
          operationRow('o', 'i', { input: { parameters: secret }, identity: secret, description: 'ü', error }),
        ],
      },
    }))
    const lease = leaseOf(await claimOne(store))
    await store.checkpoint(lease, { step: { name: 's', state: 'done', attempts: 1, startedAt: 1, output: secret } })
    await store.park(lease, { until: clock.now() + 5, description: 'later' })
    const found = [await store.listInstances(), await store.listBindings(), await store.listOperations()]
    assert.ok(!JSON.stringify(found).includes('SEALED'))
    assert.deepEqual(found[0]?.items, [instance])
    assert.deepEqual(found[1]?.items, [binding])
    const { input, requestHash: _h, losses, fence, unclean, ...operation } = operationRow('o', 'i', { error })
    const parked = { ...operation, attempt: 1, notBefore: clock.now() + 5, description: 'later' }
    assert.deepEqual(found[2]?.items, [parked])
  }),

  storeCase('lists: any text can be a filter', async ({ store }) => {
    const odd = [
      'a b',
      'ümläut',
      'x'.repeat(3_000),
      '\u0000',
      '\ud800',
      '#hash',
      "'; drop table instance; --",
      '$ne',
      '?',
    ]
    for (const [index, text] of odd.entries())
      await standing(store, `${index}${text}`, { createdAt: index, serviceId: text, planId: text, platform: text })
    for (const [index, text] of odd.entries())
      for (const query of [{ serviceId: text }, { planId: text }, { platform: text }])
        assert.deepEqual(await instances(store, query), [`${index}${text}`])
    assert.equal((await everything(query => store.listInstances(query), { limit: 2 })).length, odd.length)
  }),

  storeCase('lists: pages of any size show every row once, in the order of one large page', async ({ store }) => {
    await create(
      store,
      Array.from({ length: 25 }, (_, index) => [`i${index}`, Math.floor(index / 4)]),
    )
    const whole = (await store.listInstances({ limit: 100 })).items
    assert.equal(whole.length, 25)
    for (const limit of [1, 2, 7, 24, 25, 26])
      assert.deepEqual(await everything(query => store.listInstances(query), { limit }), whole)
    const oldest = await everything(query => store.listInstances(query), { limit: 4, order: 'oldest' })
    assert.deepEqual(oldest, [...whole].reverse())
  }),

  storeCase('lists: the last page has no cursor, also where it is full', async ({ store }) => {
    await create(store, [
      ['a', 1],
      ['b', 2],
    ])
    assert.equal((await store.listInstances({ limit: 2 })).next, undefined)
    const first = await store.listInstances({ limit: 1 })
    const last = await store.listInstances({ limit: 1, cursor: first.next })
    assert.deepEqual([last.items.map(({ id }) => id), last.next], [['a'], undefined])
  }),

  storeCase('lists: a limit beyond the largest page is the largest page', async ({ store }) => {
    await create(store, [
      ['a', 1],
      ['b', 2],
    ])
    for (const limit of [1e9, Number.POSITIVE_INFINITY]) assert.deepEqual(await instances(store, { limit }), ['b', 'a'])
  }),

  storeCase('lists: a query that makes no sense is refused', async ({ store }) => {
    const wrong: readonly (readonly [query: object, why: RegExp])[] = [
      [{ limit: 0 }, /limit must be a number from 1 on/],
      [{ limit: -1 }, /limit must be/],
      [{ limit: Number.NaN }, /limit must be/],
      [{ limit: '5' }, /limit must be/],
      [{ order: 'up' }, /order must be newest or oldest/],
      [{ servicId: 's' }, /cannot be asked for "servicId", but for order, limit, cursor/],
    ]
    for (const list of [store.listInstances, store.listBindings, store.listOperations])
      for (const [query, why] of wrong) await assert.rejects(list(query), why)
    const injected = "ready' or 'a' = 'a" as never
    await assert.rejects(store.listInstances({ phase: injected }), /phase must be creating or ready/)
    await assert.rejects(store.listBindings({ phase: injected }), /phase must be/)
    await assert.rejects(store.listOperations({ state: injected }), /state must be queued or running/)
    await assert.rejects(store.listOperations({ by: injected }), /by must be accepted or finished/)
  }),

  storeCase('lists: rows that come and go between pages move no other row', async ({ store }) => {
    await create(
      store,
      Array.from({ length: 10 }, (_, index) => [`i${index}`, 10 * index]),
    )
    const first = await store.listInstances({ limit: 4 })
    await create(store, [
      ['newer', 1_000],
      ['between', 55],
      ['older', 15],
    ])
    await standing(store, 'i8', { createdAt: 80, phase: 'deleted', deletedAt: 1 })
    await standing(store, 'i4', { createdAt: 40, phase: 'deleted', deletedAt: 1 })
    const rest = await everything(query => store.listInstances(query), { limit: 4, cursor: first.next })
    assert.deepEqual(
      [...first.items, ...rest].map(({ id }) => id),
      ['i9', 'i8', 'i7', 'i6', 'between', 'i5', 'i3', 'i2', 'older', 'i1', 'i0'],
    )
  }),

  storeCase('lists: a cursor goes on also after its own row has gone', async ({ store }) => {
    await create(store, [
      ['a', 1],
      ['b', 2],
      ['c', 3],
    ])
    const { next } = await store.listInstances({ limit: 2 })
    await standing(store, 'b', { createdAt: 2, phase: 'deleted', deletedAt: 1 })
    await store.purge(10, 10)
    assert.deepEqual(await instances(store, { cursor: next }), ['a'])
  }),

  storeCase('lists: a cursor of another list, or none at all, is refused', async ({ store }) => {
    await create(store, [
      ['a', 1],
      ['b', 2],
    ])
    await operationsOf(store)
    const cursor = (await store.listInstances({ limit: 1 })).next
    const accepted = (await store.listOperations({ limit: 1 })).next
    assert.ok(cursor && accepted)
    await assert.rejects(store.listInstances({ cursor, order: 'oldest' }), CursorError)
    for (const list of [store.listBindings, store.listOperations]) {
      await assert.rejects(list({ cursor }), CursorError)
      await assert.rejects(list({ cursor }), /it is from the list of instances newest/)
    }
    await assert.rejects(store.listOperations({ cursor: accepted, by: 'finished' }), CursorError)
    for (const wrong of ['', 'x', 'bnVsbA', '[]', `${cursor}x`, cursor.slice(4), '\u0000'])
      await assert.rejects(store.listInstances({ cursor: wrong }), CursorError)
  }),

  storeCase('lists: pages of bindings and operations, with rows of the same time', async ({ store }) => {
    for (const instanceId of ['i', 'j']) {
      await standing(store, instanceId)
      const bindings = ['a', 'b', 'c'].map(id => bindingRow(instanceId, id, { createdAt: 5, phase: 'ready' }))
      await store.accept({ instanceId }, () => ({ answer: 0, change: { bindings } }))
      for (const id of ['1', '2', '3']) await ended(store, `${instanceId}${id}`, instanceId, { finishedAt: 9 })
    }
    const bindings = await everything(query => store.listBindings(query), { limit: 2 })
    assert.deepEqual(bindings.map(({ instanceId, id }) => `${instanceId}${id}`).sort(), 'ia ib ic ja jb jc'.split(' '))
    for (const by of ['accepted', 'finished'] as const) {
      const pages = await everything(query => store.listOperations({ ...query, by }), { limit: 4 })
      assert.deepEqual(pages.map(({ id }) => id).sort(), ['i1', 'i2', 'i3', 'j1', 'j2', 'j3'])
    }
  }),

  storeCase('lists: a resolved write shows in the next list', async ({ store }) => {
    for (let round = 0; round < 10; round += 1) {
      await provision(store, `i${round}`)
      assert.equal((await store.listInstances()).items.length, round + 1)
      assert.equal((await store.listOperations({ state: 'queued' })).items.length, round + 1)
    }
  }),
]

/** Every item of the list, page by page. */
export async function everything<Item>(
  read: (query: ListQuery) => Promise<Page<Item>>,
  query: ListQuery,
): Promise<Item[]> {
  const items: Item[] = []
  for (let cursor = query.cursor; ; ) {
    const page = await read({ ...query, cursor })
    items.push(...page.items)
    if (page.next === undefined) return items
    cursor = page.next
  }
}

async function create(store: Store, rows: readonly (readonly [id: string, createdAt: number])[]): Promise<void> {
  for (const [id, createdAt] of rows) await standing(store, id, { createdAt })
}

async function instances(store: Store, query: InstanceQuery): Promise<string[]> {
  return (await store.listInstances(query)).items.map(({ id }) => id)
}

async function operations(store: Store, query: OperationQuery): Promise<string[]> {
  return (await store.listOperations(query)).items.map(({ id }) => id)
}

export function ended(store: Store, id: string, instanceId: string, overrides: Partial<Operation>): Promise<number> {
  const operation = operationRow(id, instanceId, { state: 'succeeded', finishedAt: 1, ...overrides })
  return store.accept({ instanceId }, () => ({ answer: 0, change: { operations: [operation] } }))
}

/** Six, of two instances; those of `i` are accepted at 1 to 5, and end in another order. */
async function operationsOf(store: Store): Promise<void> {
  await standing(store, 'i')
  await ended(store, 'ok', 'i', { acceptedAt: 1, finishedAt: 40 })
  await ended(store, 'bind', 'i', { acceptedAt: 2, finishedAt: 10, action: 'bind', bindingId: 'b' })
  await ended(store, 'bad', 'i', { acceptedAt: 3, finishedAt: 20, action: 'update', state: 'failed' })
  await ended(store, 'old', 'i', { acceptedAt: 4, finishedAt: 30, action: 'update', state: 'superseded' })
  const waiting = operationRow('wait', 'i', { acceptedAt: 5, action: 'update', notBefore: 9_000_000_000_000 })
  await store.accept({ instanceId: 'i' }, () => ({ answer: 0, change: { operations: [waiting] } }))
  await standing(store, 'j')
  const running = operationRow('run', 'j', { acceptedAt: 6 })
  await store.accept({ instanceId: 'j' }, () => ({ answer: 0, change: { operations: [running] } }))
}
