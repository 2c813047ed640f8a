import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Driver } from '../../src/store/sqlite/driver.ts'
import { migrations } from '../../src/store/sqlite/migrations.ts'
import { openWith } from '../../src/store/sqlite/open.ts'
import type { Binding, HistoryEvent, Instance, Operation } from '../../src/store.ts'
import { change, idsIn, revisionRow } from '../../src/testing/store-contract/catalog-rows.ts'
import {
  bindingRow,
  claimOne,
  finish,
  instanceRow,
  leaseOf,
  operationRow,
  stepRow,
} from '../../src/testing/store-contract/rows.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { describeDrivers, testFolder } from './sqlite-drivers.ts'

const clock = createVirtualClock(1_000)

/** Rows as the first release wrote them. */
const instances = [
  instanceRow('live', { phase: 'ready', lastOperationId: 'live:update', state: { a: 'ä' } }),
  instanceRow('busy', { phase: 'updating', lastOperationId: 'busy:update' }),
  instanceRow('gone', { phase: 'deleted', lastOperationId: 'gone:delete', deletedAt: 50 }),
  instanceRow('unclean', { phase: 'deleted', lastOperationId: 'none', deletedAt: 50, uncleanUntil: 2_000 }),
]
const bindings = [
  bindingRow('live', 'b', { phase: 'ready', lastOperationId: 'live:bind', result: { credentials: { password: 'p' } } }),
  bindingRow('live', 'old', { phase: 'deleted', lastOperationId: 'live:unbind', deletedAt: 40 }),
  bindingRow('gone', 'b', { phase: 'deleted', lastOperationId: 'gone:unbind', deletedAt: 40 }),
]
const ended = (id: string, overrides: Partial<Operation> = {}) =>
  operationRow(id, id.split(':')[0] ?? '', { state: 'succeeded', finishedAt: 30, fence: 3, ...overrides })
const operations = [
  ended('live:provision'),
  ended('live:update'),
  ended('live:bind', { bindingId: 'b' }),
  ended('live:unbind', { bindingId: 'old' }),
  ended('busy:provision', { state: 'failed', finishedAt: 20 }),
  operationRow('busy:update', 'busy', { action: 'update', fence: 4 }),
  ended('gone:delete'),
  ended('gone:unbind', { bindingId: 'b' }),
]

/** The last one is about an instance that nobody knew. */
const events: readonly HistoryEvent[] = [
  { at: 1, type: 'accepted', instanceId: 'live', operationId: 'live:provision', action: 'provision' },
  { at: 2, type: 'acted', instanceId: 'live', by: 'ops', verb: 'move', reason: 'why', before: {}, after: {} },
  { at: 3, type: 'accepted', instanceId: 'gone' },
  { at: 4, type: 'forced', instanceId: 'unknown' },
]

describeDrivers('sqlite: a database of the first release', driver => {
  it('keeps its rows, and is cleaned up and purged as any other', async () => {
    const file = join(testFolder(), 'ledger.db')
    writeFirstRelease(driver, file)
    const store = openWith(driver, { file, clock })
    for (const row of instances) expect(await store.instance(row.id)).toEqual(row)
    for (const row of bindings) expect(await store.binding(row.instanceId, row.id)).toEqual(row)
    for (const row of operations) expect(await store.operation(row.id)).toEqual(row)
    expect(await store.steps('busy:update')).toEqual([stepRow('one')])

    const listed = await store.listInstances({ serviceId: 'service', planId: 'plan', platform: 'cf', usable: true })
    expect(listed.items.map(({ id }) => id).sort()).toEqual(['busy', 'live'])
    expect((await store.listInstances({ phase: 'deleted' })).items).toHaveLength(2)
    expect((await store.listBindings({ serviceId: 'service' })).items.map(({ id }) => id)).toEqual(['b'])
    expect((await store.listOperations({ of: { instanceId: 'live' } })).items).toHaveLength(4)
    expect((await store.listOperations({ state: 'failed' })).items.map(({ id }) => id)).toEqual(['busy:provision'])

    const historyOf = (id: string) => store.history(id)
    const kept = [events.slice(0, 2), events.slice(2, 3), events.slice(3)]
    expect(await Promise.all(['live', 'gone', 'unknown'].map(historyOf))).toEqual(kept)
    const moved = { instanceId: 'live', by: 'ops', verb: 'move' } as const
    expect((await store.listActs(moved)).items.map(({ reason }) => reason)).toEqual(['why'])

    const wanted = { states: ['succeeded', 'failed', 'superseded'], before: 500, max: 1 } as const
    expect(await store.cleanUp({ ...wanted, of: 'instances' })).toBe(1)
    expect(await store.operation('busy:provision')).toBeUndefined()
    expect(await store.cleanUp({ ...wanted, of: 'instances', max: 100 })).toBe(2)
    expect(await store.cleanUp({ ...wanted, of: 'bindings', max: 100 })).toBe(2)
    const left = await Promise.all(operations.map(({ id }) => store.operation(id)))
    expect(left.map(row => row?.id).filter(Boolean)).toEqual(['live:update', 'live:bind', 'busy:update'])

    expect(await store.purge(500, 100)).toBe(2)
    const remaining = await Promise.all(instances.map(({ id }) => store.instance(id)))
    expect(remaining.map(row => row?.id).filter(Boolean)).toEqual(['live', 'busy', 'unclean'])
    expect(await store.binding('live', 'old')).toBeUndefined()
    expect(await Promise.all(['live', 'gone', 'unknown'].map(historyOf))).toEqual(kept)

    const claim = await claimOne(store)
    expect([claim.operation.id, claim.operation.fence]).toEqual(['busy:update', 5])
    expect(await finish(store, leaseOf(claim))).toBe(true)
    expect(await store.takeChore({ name: 'sweep', dueAt: 900, owner: 'w', leaseTime: 100 })).toEqual({
      name: 'sweep',
      fence: 1,
    })
    await store.close()
  })

  it('can pin its instances to revisions', async () => {
    const file = join(testFolder(), 'ledger.db')
    writeFirstRelease(driver, file)
    const store = openWith(driver, { file, clock })
    expect([await store.revisionUses(), await idsIn(store)]).toEqual([[], [[], []]])
    await change(store, { insertRevisions: [revisionRow('r')] })
    await store.accept({ instanceId: 'live' }, ({ instance }) => ({
      answer: 0,
      ...(instance && { change: { instance: { ...instance, revisionId: 'r' } } }),
    }))
    await change(store, { deleteRevisions: ['r'] })
    expect(await idsIn(store)).toEqual([[], ['r']])
    expect(await store.revisionUses()).toEqual([{ revisionId: 'r', planId: 'plan', instances: 1 }])
    await store.close()
  })

  it('is brought up to date once', async () => {
    const file = join(testFolder(), 'ledger.db')
    writeFirstRelease(driver, file)
    for (const _ of [1, 2]) await openWith(driver, { file, clock }).close()
    const database = driver.open(file)
    expect(database.prepare('pragma user_version').get()?.user_version).toBe(migrations.length)
    database.close()
  })
})

function writeFirstRelease(driver: Driver, file: string): void {
  const database = driver.open(file)
  database.exec(`${migrations[0]} pragma application_id = ${0x50757273}; pragma user_version = 1`)
  const put = (sql: string, values: readonly (string | number | null)[]) => database.prepare(sql).run(...values)
  for (const { parameters, state, ...doc } of instances satisfies Instance[])
    put('insert into instance (id, observe_at, doc, sealed) values (?, ?, ?, ?)', [
      doc.id,
      null,
      JSON.stringify(doc),
      JSON.stringify({ parameters, state }),
    ])
  for (const { parameters, state, result, ...doc } of bindings satisfies Binding[])
    put('insert into binding (instance_id, id, phase, doc, sealed) values (?, ?, ?, ?, ?)', [
      doc.instanceId,
      doc.id,
      doc.phase,
      JSON.stringify(doc),
      JSON.stringify({ parameters, state, result }),
    ])
  for (const operation of operations) {
    const { state, attempt, losses, notBefore, fence, unclean, input, ...doc } = operation
    put(
      `insert into operation (id, instance_id, binding_id, state, attempt, losses, not_before, fence, unclean, doc, sealed)
        values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        doc.id,
        doc.instanceId,
        doc.bindingId ?? null,
        state,
        attempt,
        losses,
        notBefore,
        fence,
        unclean ? 1 : 0,
        JSON.stringify(doc),
        JSON.stringify({ input }),
      ],
    )
  }
  const { output, ...step } = stepRow('one')
  put('insert into step (operation_id, name, state, doc, sealed) values (?, ?, ?, ?, ?)', [
    'busy:update',
    step.name,
    step.state,
    JSON.stringify(step),
    JSON.stringify({ output }),
  ])
  for (const event of events)
    put('insert into history (instance_id, doc) values (?, ?)', [event.instanceId, JSON.stringify(event)])
  database.exec(`update counter set value = 4`)
  database.close()
}
