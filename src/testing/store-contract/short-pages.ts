import type {
  BindingQuery,
  InstanceQuery,
  ListQuery,
  Operation,
  OperationError,
  OperationQuery,
  Page,
  Store,
} from '../../store.ts'
import { assert } from './assert.ts'
import { everything } from './lists.ts'
import { bindingRow, instanceRow, operationRow } from './rows.ts'
import { storeCase } from './subject.ts'

const count = 24
const sizes = [1, 2, 3, 5, 23, 24, 25, 2_000, 1e9]

export const shortPageCases = [
  storeCase('lists: a page that looked at enough rows ends, and its cursor goes on', async ({ store }) => {
    await fill(store)
    // Every second one has the plan, every third one the platform.
    const query = { planId: 'even', platform: 'third', order: 'oldest', limit: 5 } as const
    const whole = await store.listInstances(query)
    assert.deepEqual(
      whole.items.map(({ id }) => id),
      ['i00', 'i06', 'i12', 'i18'],
    )
    // None is both: no page may look for one through all of them.
    const { items, next } = await store.listInstances({ planId: 'even', phase: 'failed', limit: 5, examine: 3 })
    assert.deepEqual([items, next !== undefined], [[], true])
    const page = await store.listInstances({ ...query, limit: 1, examine: 24 })
    assert.deepEqual([page.items.length, page.next !== undefined], [1, true])
  }),

  storeCase('lists: however few rows a page looks at, all pages together are the list', async ({ store }) => {
    await fill(store)
    const instances: InstanceQuery[] = [
      {},
      { planId: 'even' },
      { planId: 'even', platform: 'third' },
      { serviceId: 'service', platform: 'third', usable: true },
      { phase: 'failed', planId: 'odd' },
      { phase: 'ready', usable: false },
      { phase: 'deleted', platform: 'third' },
    ]
    for (const query of instances) await sameInParts(page => store.listInstances({ ...query, ...page }))
    const bindings: BindingQuery[] = [
      { planId: 'even', serviceId: 'service' },
      { phase: 'failed', planId: 'odd' },
      { instanceId: 'i04', planId: 'even' },
    ]
    for (const query of bindings) await sameInParts(page => store.listBindings({ ...query, ...page }))
    const operations: OperationQuery[] = [
      { planId: 'even' },
      { planId: 'even', platform: 'third' },
      { serviceId: 'service', action: 'update' },
      { action: 'update', state: 'succeeded' },
      { planId: 'odd', state: 'failed' },
      { planId: 'odd', step: 'create' },
      { step: 'create', fingerprint: 'ab', platform: 'cf' },
      { state: 'queued', planId: 'even' },
      { state: 'succeeded', after: 3, before: 20 },
      { by: 'finished', planId: 'even' },
      { by: 'finished', state: 'failed', planId: 'odd' },
      { by: 'finished', action: 'update', platform: 'third', after: 500, before: 995 },
      { by: 'finished', step: 'create' },
      { of: { instanceId: 'i05' }, action: 'update' },
    ]
    for (const query of operations) await sameInParts(page => store.listOperations({ ...query, ...page }))
    for (const query of [{ by: 'ops', verb: 'retry' }, { verb: 'retry', after: 3 }, { instanceId: 'i04' }] as const)
      await sameInParts(page => store.listActs({ ...query, ...page }))
  }),

  storeCase('lists: a page looks at one row at least', async ({ store }) => {
    for (const examine of [0, -1, Number.NaN])
      await assert.rejects(store.listInstances({ examine }), /examine must be a number from 1 on/)
  }),
]

/** In both orders: what is read with a few rows at a time is what is read at once. */
async function sameInParts<Item>(list: (page: ListQuery) => Promise<Page<Item>>): Promise<void> {
  for (const order of ['newest', 'oldest'] as const) {
    const whole = await list({ order, limit: 100 })
    assert.ok(whole.items.length > 0)
    assert.equal(whole.next, undefined)
    for (const examine of sizes)
      assert.deepEqual(await everything(list, { order, limit: 3, examine }), whole.items, `${examine} ${order}`)
  }
}

/** Some share a time. They end in another order than they were accepted. */
async function fill(store: Store): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const id = `i${String(index).padStart(2, '0')}`
    const time = Math.floor(index / 2)
    const names = {
      planId: index % 2 === 0 ? 'even' : 'odd',
      platform: index % 3 === 0 ? 'third' : 'cf',
    }
    const deleted = index % 8 === 7 ? ({ phase: 'deleted', deletedAt: 1 } as const) : {}
    const phase = index % 4 === 1 ? 'failed' : 'ready'
    const error: OperationError = { message: 'no', step: 'create', fingerprint: 'ab' }
    const ended: Partial<Operation> =
      index % 6 === 4
        ? {}
        : index % 4 === 1
          ? { state: 'failed', error, finishedAt: 1_000 - time }
          : { state: 'succeeded', finishedAt: 1_000 - time }
    await store.accept({ instanceId: id }, () => ({
      answer: 0,
      change: {
        instance: instanceRow(id, { ...names, createdAt: time, phase, usable: index !== 3, ...deleted }),
        bindings: [bindingRow(id, 'b', { planId: names.planId, createdAt: time, phase })],
        operations: [
          operationRow(`o${id}`, id, {
            ...names,
            acceptedAt: time,
            action: index % 3 === 1 ? 'provision' : 'update',
            notBefore: 9_000_000_000_000,
            ...ended,
          }),
        ],
        history: [
          {
            at: time,
            type: 'acted',
            instanceId: id,
            verb: index % 3 === 1 ? 'abandon' : 'retry',
            by: index % 2 === 0 ? 'ops' : 'admin',
          },
        ],
      },
    }))
  }
}
