import type { BindingQuery, InstanceQuery, OperationQuery } from '../../store.ts'
import { bindingList, type Dialect, instanceCounts, instanceList, operationList, type SqlList } from '../sql-lists.ts'
import type { Database } from './driver.ts'

export const listsOf = {
  instances: (query: InstanceQuery) => instanceList(query, dialect),
  bindings: (query: BindingQuery) => bindingList(query, dialect),
  operations: (query: OperationQuery) => operationList(query, dialect),
}

/** Prepared for each page: there are very many lists, and few of them are read often. */
export function createLists(database: Database) {
  const read = <Item>({ text, values, toPage }: SqlList<Item>) => toPage(database.prepare(text).all(...values))
  return {
    instanceCounts: () => database.prepare(counts.text).all().map(counts.toCount),
    listInstances: (query: InstanceQuery = {}) => read(listsOf.instances(query)),
    listBindings: (query: BindingQuery = {}) => read(listsOf.bindings(query)),
    listOperations: (query: OperationQuery = {}) => read(listsOf.operations(query)),
  }
}

const dialect: Dialect = {
  table: name => name,
  id: id => id,
  activeOperations: `(select * from operation indexed by operation_due where state in ('queued', 'running'))`,
}

const counts = instanceCounts(dialect)
