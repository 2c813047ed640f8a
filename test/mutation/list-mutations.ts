/** Which index a list walks, and how far. */
import type { Mutation } from './mutation.ts'

const plans = { suite: ['test/store/sqlite-lists.test.ts'] }
const pages = { suite: ['test/store/memory.test.ts', 'test/store/sqlite.test.ts'], only: 'lists: ' }

export const listMutations: readonly Mutation[] = [
  {
    ...plans,
    file: 'src/store/sql-lists.ts',
    only: 'walk the index of the service',
    name: 'operations by a service without their index',
    find: '`${column} = ? and finished_at is not null`',
    replace: '`${column} = ?`',
  },
  {
    ...plans,
    file: 'src/store/leads.ts',
    only: 'can lead, in its order',
    name: 'the service of a plan is asked beside it',
    find: " && (lead !== 'serviceId' || filters.planId === undefined)",
    replace: '',
  },
  {
    ...plans,
    file: 'src/store/sqlite/lists.ts',
    only: 'walk the index of the phase',
    name: 'SQLite takes any index that fits a list',
    find: 'beside: column => `+${column}`',
    replace: 'beside: column => column',
  },
  {
    ...plans,
    file: 'src/store/leads.ts',
    only: 'can lead, in its order',
    name: 'a list goes by the index that ends first',
    find: 'timeOf(other) - timeOf(one)',
    replace: 'timeOf(one) - timeOf(other)',
  },
  {
    ...plans,
    file: 'src/store/sql-lists.ts',
    only: 'can lead, in its order',
    name: 'a page walks on behind its edge',
    find: "if (edge !== undefined) where.add(...beyond(order, list.descending ? '>=' : '<=', edge))",
    replace: '',
  },
  {
    ...pages,
    file: 'src/store/lists.ts',
    name: 'a page that looked at enough rows is the last one',
    find: 'last === undefined ? edge : positionOf(last)',
    replace: 'last === undefined ? undefined : positionOf(last)',
  },
  {
    ...pages,
    file: 'src/store/sql-lists.ts',
    name: 'the row at the edge of a page is on no page',
    find: "list.descending ? '>=' : '<=', edge",
    replace: "list.descending ? '>' : '<', edge",
  },
  {
    ...pages,
    file: 'src/store/memory/lists.ts',
    name: 'a page in memory looks at any number of rows',
    find: 'if (looked === list.examine) return toPage(list, found, { ...parts, edge: parts.positionOf(row) })',
    replace: '',
  },
  {
    suite: ['test/store/mongodb.test.ts'],
    only: 'lists: ',
    needs: 'mongodb',
    file: 'src/store/mongodb/read-page.ts',
    name: 'the row at the edge of a page of MongoDB is on no page',
    find: '[inclusive ? `${sign}e` : sign]: id',
    replace: '[sign]: id',
  },
]
