import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { surveyTexts } from '../../src/store/sql-survey.ts'
import { dialect, listsOf } from '../../src/store/sqlite/lists.ts'
import { openWith } from '../../src/store/sqlite/open.ts'
import {
  actQueries,
  bindingQueries,
  inBothOrders,
  instanceQueries,
  isOfTwoParts,
  isSortedByHand,
  operationQueries,
  siftedLists,
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

const rowsOfTables = /^(SEARCH|SCAN) (instance|binding|operation|history)\b/
/** What belongs to an instance is found by its number. */
const numberOfInstance = 'SEARCH instance USING COVERING INDEX sqlite_autoindex_instance_1 (id=?)'

describeDrivers('sqlite: the plan behind a list', driver => {
  it.each(lists)('%s %s walk the index of the %s, in its order', async (list, _title, lead, { edges, after }) => {
    const planOf = await planner(driver)
    const plan = planOf(after(edges.map(() => undefined)))
    const reads = plan.filter(({ detail }) => rowsOfTables.test(detail))
    // The active ones are walked besides, by the index of the queue.
    const walked = reads
      .filter(({ detail }) => detail !== numberOfInstance)
      .filter(({ detail }) => !isOfTwoParts(list, lead) || !detail.includes('operation_due'))
    const verb = ['time', 'finished', 'expires', 'unusable', 'active'].includes(lead) ? '(SEARCH|SCAN)' : 'SEARCH'
    const pattern = new RegExp(`^${verb} \\w+ USING (COVERING )?INDEX \\w+_${sqlIndexes[lead]}( |$)`)
    // A history has two parts: what came before its instance was removed is found by the id.
    const parts = list === 'acts' && lead === 'instance' ? 2 : 1
    expect(walked.map(({ detail }) => detail)).toEqual(Array(parts).fill(expect.stringMatching(pattern)))
    const beside = plan.filter(({ parent }) => parent === walked[0]?.parent)
    if (!isSortedByHand(lead)) expect(beside.filter(({ detail }) => detail.includes('TEMP B-TREE'))).toEqual([])
  })

  it.each(lists)('%s %s: edges are found by indexes', async (_list, _title, _lead, { edges }) => {
    const planOf = await planner(driver)
    for (const edge of edges)
      expect(planOf(edge).map(({ detail }) => detail)).toEqual([
        expect.stringMatching(/^(SEARCH|SCAN) \w+ USING (COVERING )?INDEX /),
      ])
  })

  it('a survey counts the instances that are ready by an index alone, and finds the others by their phases', async () => {
    const planOf = await planner(driver)
    const plan = planOf(surveyTexts(dialect, 0, 0).instances).map(({ detail }) => detail)
    expect(plan.filter(detail => / instance /.test(detail))).toEqual([
      expect.stringMatching(/^SEARCH instance USING COVERING INDEX instance_survey \(phase=\?\)/),
      expect.stringMatching(/^SEARCH instance USING INDEX instance_list_phase \(phase=\?\)/),
    ])
  })

  it.each(siftedLists)('%s by %j: any of %j can lead, in its order', async (list, query, leads) => {
    const planOf = await planner(driver)
    const { edges, after } = listsOf[list](query as object)
    expect(edges).toHaveLength(leads.length)
    const [time = ''] = orders[query.by === 'finished' ? 'finished' : list] ?? []
    for (const [index, lead] of leads.entries()) {
      // The others end sooner.
      const found = edges.map((_, place) => ({ [time]: place === index ? 1 : 2, id: 'i', instance_id: 'i', seq: 1 }))
      const plan = planOf(after(found)).map(({ detail }) => detail)
      const reads = plan.filter(detail => rowsOfTables.test(detail) && !detail.includes('operation_due'))
      expect(reads).toEqual([expect.stringMatching(new RegExp(`USING INDEX \\w+_${sqlIndexes[lead]} `))])
      // From the cursor to the edge, and no further.
      expect(reads[0]).toMatch(/\((.* AND )?\(?\w+,?.*\)?[<>]/)
    }
  })
})

const orders: Readonly<Record<string, readonly string[]>> = {
  instances: ['created_at'],
  bindings: ['created_at'],
  operations: ['accepted_at'],
  finished: ['finished_at'],
  acts: ['acted_at'],
}

async function planner(driver: Parameters<typeof watch>[0]) {
  const watched = watch(driver)
  const store = openWith(watched, { file: join(testFolder(), 'ledger.db'), clock: systemClock })
  onTestFinished(() => store.close())
  return ({ text, values }: { readonly text: string; readonly values: readonly (string | number)[] }) =>
    watched
      .database()
      .prepare(`explain query plan ${text}`)
      .all(...values)
      .map(row => ({ parent: row.parent, detail: String(row.detail) }))
}
