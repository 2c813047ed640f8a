import type { ActQuery, BindingQuery, InstanceQuery, OperationQuery } from '../../store.ts'
import type { Dialect } from '../sql-dialect.ts'
import { actList, bindingList, instanceCounts, instanceList, operationList, type SqlList } from '../sql-lists.ts'
import { failureTexts, surveyTexts, toFailedOperation, toSurvey } from '../sql-survey.ts'
import type { Database } from './driver.ts'
import { eventsOfInstance, ofInstance } from './statements.ts'

export const listsOf = {
  instances: (query: InstanceQuery) => instanceList(query, dialect),
  bindings: (query: BindingQuery) => bindingList(query, dialect),
  operations: (query: OperationQuery) => operationList(query, dialect),
  acts: (query: ActQuery) => actList(query, dialect),
}

/** Prepared for each page: there are very many lists, and few of them are read often. */
export function createLists(database: Database) {
  const read = <Item>({ edges, after }: SqlList<Item>) => {
    const found = edges.map(({ text, values }) => database.prepare(text).get(...values))
    const { text, values, toPage } = after(found)
    return toPage(database.prepare(text).all(...values))
  }
  return {
    instanceCounts: () => database.prepare(counts.text).all().map(counts.toCount),
    listInstances: (query: InstanceQuery = {}) => read(listsOf.instances(query)),
    listBindings: (query: BindingQuery = {}) => read(listsOf.bindings(query)),
    listOperations: (query: OperationQuery = {}) => read(listsOf.operations(query)),
    listActs: (query: ActQuery = {}) => read(listsOf.acts(query)),
    failures(most: number) {
      const { failed, retrying } = failureTexts(dialect, most)
      const all = ({ text, values }: typeof failed) => database.prepare(text).all(...values)
      return [...all(failed), ...all(retrying)].map(toFailedOperation)
    },
    survey(endedSince: number, now: number) {
      const { active, ended, instances, bindings } = surveyTexts(dialect, now, endedSince)
      const all = ({ text, values }: typeof active) => database.prepare(text).all(...values)
      return toSurvey(
        { active: all(active), ended: all(ended), instances: all(instances), bindings: all(bindings) },
        now,
      )
    },
  }
}

export const dialect: Dialect = {
  table: name => name,
  id: id => id,
  operationsOf: id => [ofInstance, id],
  eventsOf: id => [eventsOfInstance, id, id],
  instanceKey: 'number',
  // Nearly all are ready: an index has all that those are counted by. The others are found by their phases.
  countedInstances: `select min(number) as one, count(*) as instances from instance
      where phase = 'ready' group by service_id, plan_id, usable
    union all select min(number), count(*) from instance
      where phase <> 'ready' and phase in ('creating', 'updating', 'deleting', 'failed')
      group by service_id, plan_id, phase, usable`,
  activeOperations: `(select * from operation indexed by operation_due where state in ('queued', 'running')) active`,
  // The unary plus of https://sqlite.org/optoverview.html: there are no statistics.
  beside: column => `+${column}`,
  failedSteps: `cross join step s on s.operation_id = active.id and s.state = 'failed'`,
  generated: name => name,
  numberIn: (doc, path) => `json_extract(${doc}, '$.${path}')`,
}

const counts = instanceCounts(dialect)
