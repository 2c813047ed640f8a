import type { BindingQuery, InstanceQuery, OperationQuery, Page } from '../../store.ts'
import { keyOf } from '../keys.ts'
import { bindingList, type Dialect, instanceCounts, instanceList, operationList, type SqlList } from '../sql-lists.ts'
import type { Run } from './database.ts'

export function createLists(run: Run, schema: string) {
  const dialect: Dialect = {
    table: name => `${schema}.${name}`,
    id: keyOf,
    activeOperations: `(select * from ${schema}.operation where state in ('queued', 'running') offset 0) active`,
  }

  /** Without a name: planned anew for its values, since no plan is right for all of them. */
  async function read<Item>({ text, values, toPage }: SqlList<Item>): Promise<Page<Item>> {
    let place = 0
    const numbered = text.replaceAll('?', () => `$${++place}`)
    return toPage(await run({ text: numbered }, values))
  }

  const counts = instanceCounts(dialect)

  return {
    instanceCounts: async () => (await run({ text: counts.text }, [])).map(counts.toCount),
    listInstances: async (query: InstanceQuery = {}) => read(instanceList(query, dialect)),
    listBindings: async (query: BindingQuery = {}) => read(bindingList(query, dialect)),
    listOperations: async (query: OperationQuery = {}) => read(operationList(query, dialect)),
  }
}
