import type {
  Binding,
  BindingQuery,
  BindingSummary,
  Instance,
  InstanceQuery,
  InstanceSummary,
  Operation,
  OperationQuery,
  OperationSummary,
  Page,
} from '../../store.ts'
import {
  type List,
  type Position,
  toBindingSummary,
  toInstanceSummary,
  toList,
  toOperationList,
  toOperationSummary,
  toPage,
} from '../lists.ts'
import type { Tables } from './tables.ts'

export function listInstances(tables: Tables, query: InstanceQuery): Page<InstanceSummary> {
  const { platform, serviceId, planId, revisionId, phase, usable } = query
  const found = [...tables.allInstances()].filter(
    row => matches(row, { platform, serviceId, planId, revisionId, phase, usable }) && isShown(row, phase),
  )
  return page(toList('instances', query), found, ({ createdAt, id }) => [createdAt, id], toInstanceSummary)
}

export function listBindings(tables: Tables, query: BindingQuery): Page<BindingSummary> {
  const { instanceId, serviceId, planId, phase } = query
  const found = [...tables.allBindings()].filter(
    row => matches(row, { instanceId, serviceId, planId, phase }) && isShown(row, phase),
  )
  const positionOf = ({ createdAt, instanceId, id }: Binding): Position => [createdAt, instanceId, id]
  return page(toList('bindings', query, 2), found, positionOf, toBindingSummary)
}

export function listOperations(tables: Tables, query: OperationQuery): Page<OperationSummary> {
  const {
    of,
    action,
    state,
    by = 'accepted',
    after = Number.NEGATIVE_INFINITY,
    before = Number.POSITIVE_INFINITY,
  } = query
  const timeOf = ({ acceptedAt, finishedAt }: Operation) =>
    by === 'accepted' ? acceptedAt : (finishedAt ?? Number.NaN)
  const found = [...tables.allOperations()].filter(
    row => matches(row, { ...of, action, state }) && timeOf(row) >= after && timeOf(row) < before,
  )
  return page(toOperationList(query), found, row => [timeOf(row), row.id], toOperationSummary)
}

function matches<Row>(row: Row, wanted: Partial<Row>): boolean {
  return (Object.keys(wanted) as (keyof Row)[]).every(key => wanted[key] === undefined || wanted[key] === row[key])
}

/** Those that are deleted are for those who ask for them. */
function isShown(row: Instance | Binding, phase: string | undefined): boolean {
  return row.phase !== 'deleted' || phase === 'deleted'
}

function page<Row, Item>(
  list: List,
  rows: readonly Row[],
  positionOf: (row: Row) => Position,
  toItem: (row: Row) => Item,
): Page<Item> {
  const { after, descending, limit } = list
  const compare = (one: Position, other: Position) => (descending ? -1 : 1) * comparePositions(one, other)
  const left = after === undefined ? rows : rows.filter(row => compare(positionOf(row), after) > 0)
  const sorted = [...left].sort((one, other) => compare(positionOf(one), positionOf(other))).slice(0, limit + 1)
  return toPage(list, sorted, positionOf, row => structuredClone(toItem(row)))
}

function comparePositions(one: Position, other: Position): number {
  const index = one.findIndex((value, place) => value !== other[place])
  const [value, against] = [one[index], other[index]]
  if (value === undefined || against === undefined) return 0
  return value < against ? -1 : 1
}
