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
  isOfTwoParts,
  isSortedByHand,
  operationQueries,
  sqlIndexes,
} from './list-queries.ts'
import { describeDrivers, testFolder, watch } from './sqlite-drivers.ts'

const lists = [
  ...inBothOrders(instanceQueries).map(
    ([title, query, lead]) => ['instances', title, lead, listsOf.instances(query)] as const,
  ),
  ...inBothOrders(bindingQueries).map(
    ([title, query, lead]) => ['bindings', title, lead, listsOf.bindings(query)] as const,
  ),
  ...inBothOrders(operationQueries).map(
    ([title, query, lead]) => ['operations', title, lead, listsOf.operations(query)] as const,
  ),
  ...inBothOrders(actQueries).map(([title, query, lead]) => ['acts', title, lead, listsOf.acts(query)] as const),
]

describeDrivers('sqlite: the plan behind a list', driver => {
  it.each(lists)('%s %s walk the index of the %s, in its order', async (list, _title, lead, { text, values }) => {
    const watched = watch(driver)
    const store = openWith(watched, { file: join(testFolder(), 'ledger.db'), clock: systemClock })
    const plan = watched
      .database()
      .prepare(`explain query plan ${text}`)
      .all(...values)
      .map(row => ({ parent: row.parent, detail: String(row.detail) }))
    await store.close()
    const reads = plan.filter(({ detail }) => /^(SEARCH|SCAN) (instance|binding|operation|history)\b/.test(detail))
    // The active ones are walked besides, by the index of the queue.
    const walked = reads.filter(({ detail }) => !isOfTwoParts(list, lead) || !detail.includes('operation_due'))
    const verb = ['time', 'finished', 'expires', 'unusable', 'active'].includes(lead) ? '(SEARCH|SCAN)' : 'SEARCH'
    const pattern = new RegExp(`^${verb} \\w+ USING (COVERING )?INDEX \\w+_${sqlIndexes[lead]}( |$)`)
    expect(walked.map(({ detail }) => detail)).toEqual([expect.stringMatching(pattern)])
    const beside = plan.filter(({ parent }) => parent === walked[0]?.parent)
    if (!isSortedByHand(lead)) expect(beside.filter(({ detail }) => detail.includes('TEMP B-TREE'))).toEqual([])
  })
})
