import { join } from 'node:path'
import { expect, it } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { listsOf } from '../../src/store/sqlite/lists.ts'
import { openWith } from '../../src/store/sqlite/open.ts'
import {
  actQueries,
  bindingQueries,
  inBothOrders,
  instanceQueries,
  isSortedByHand,
  operationQueries,
} from './list-queries.ts'
import { describeDrivers, testFolder, watch } from './sqlite-drivers.ts'

const lists = [
  ...inBothOrders(instanceQueries).map(
    ([title, query]) => ['instances', title, query, listsOf.instances(query)] as const,
  ),
  ...inBothOrders(bindingQueries).map(([title, query]) => ['bindings', title, query, listsOf.bindings(query)] as const),
  ...inBothOrders(operationQueries).map(
    ([title, query]) => ['operations', title, query, listsOf.operations(query)] as const,
  ),
  ...inBothOrders(actQueries).map(([title, query]) => ['acts', title, query, listsOf.acts(query)] as const),
]

describeDrivers('sqlite: the plan behind a list', driver => {
  it.each(lists)('%s %s walks an index in its order', async (_list, _title, query, { text, values }) => {
    const watched = watch(driver)
    const store = openWith(watched, { file: join(testFolder(), 'ledger.db'), clock: systemClock })
    const plan = watched
      .database()
      .prepare(`explain query plan ${text}`)
      .all(...values)
    const steps = plan.map(row => String(row.detail))
    await store.close()
    const reads = steps.filter(step => /^(SEARCH|SCAN) (instance|binding|operation|history)\b/.test(step))
    expect(reads.length).toBeGreaterThan(0)
    for (const step of reads) expect(step).toMatch(/^(SEARCH|SCAN) \w+ USING (COVERING )?INDEX /)
    if (!isSortedByHand(query)) expect(steps).toHaveLength(1)
  })

  it.each([
    ['service', { serviceId: 'service' }],
    ['service', { serviceId: 'service', state: 'succeeded' }],
    ['plan', { planId: 'plan' }],
    ['platform', { platform: 'cf' }],
    ['step', { step: 'create' }],
    ['error', { fingerprint: '0123' }],
  ] as const)('operations by a %s that few have, %j, read no others', async (index, query) => {
    const watched = watch(driver)
    const store = openWith(watched, { file: join(testFolder(), 'ledger.db'), clock: systemClock })
    const { text, values } = listsOf.operations(query)
    const plan = watched
      .database()
      .prepare(`explain query plan ${text}`)
      .all(...values)
    await store.close()
    const reads = plan.map(row => String(row.detail)).filter(step => /^(SEARCH|SCAN) operation\b/.test(step))
    // The active ones are walked besides, by the index of the queue: they are few.
    const others = reads.filter(step => !step.includes('operation_due'))
    expect(others).toEqual([
      expect.stringMatching(new RegExp(`^SEARCH operation USING INDEX operation_list_${index} `)),
    ])
  })
})
