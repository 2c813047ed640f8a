import type { BindingQuery, InstanceQuery, OperationQuery } from '../../store.ts'
import { bindingList, type Dialect, instanceList, operationList, type SqlList } from '../sql-lists.ts'
import type { Database } from './driver.ts'

export const listsOf = {
  instances: (query: InstanceQuery) => instanceList(query, dialect),
  bindings: (query: BindingQuery) => bindingList(query, dialect),
  operations: (query: OperationQuery) => operationList(query, dialect),
}

/** Prepared for each page: there are very many lists, and few of them are read often. */
export function readPage<Item>(database: Database, { text, values, toPage }: SqlList<Item>) {
  return toPage(database.prepare(text).all(...values))
}

const dialect: Dialect = {
  table: name => name,
  id: id => id,
  activeOperations: `(select * from operation indexed by operation_due where state in ('queued', 'running'))`,
}
