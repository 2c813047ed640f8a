import type {
  Binding,
  BindingQuery,
  Instance,
  InstanceCount,
  InstanceQuery,
  Operation,
  OperationQuery,
  Page,
} from '../../store.ts'
import { type List, type Position, toBindingList, toInstanceList, toOperationList, toPage } from '../lists.ts'
import type { Tables } from './tables.ts'

export function listInstances(tables: Tables, query: InstanceQuery) {
  const { platform, serviceId, planId, revisionId, phase, usable } = query
  const found = [...tables.instances.look()].filter(
    row => matches(row, { platform, serviceId, planId, revisionId, phase, usable }) && isShown(row, phase),
  )
  return page(toInstanceList(query), found, ({ createdAt, id }) => [createdAt, id])
}

export function countInstances(tables: Tables): readonly InstanceCount[] {
  const counts = new Map<string, InstanceCount>()
  for (const { serviceId, planId, revisionId, phase } of tables.instances.look()) {
    if (phase === 'creating' || phase === 'deleted') continue
    const pinned = revisionId !== undefined
    const key = JSON.stringify([serviceId, planId, pinned])
    counts.set(key, { serviceId, planId, pinned, instances: (counts.get(key)?.instances ?? 0) + 1 })
  }
  return [...counts.values()]
}

export function listBindings(tables: Tables, query: BindingQuery) {
  const { instanceId, serviceId, planId, phase } = query
  const found = [...tables.allBindings()].filter(
    row => matches(row, { instanceId, serviceId, planId, phase }) && isShown(row, phase),
  )
  return page(toBindingList(query, 2), found, ({ createdAt, instanceId, id }) => [createdAt, instanceId, id])
}

export function listOperations(tables: Tables, query: OperationQuery) {
  const { of, action, state, by = 'accepted', after = -Infinity, before = Infinity } = query
  const timeOf = ({ acceptedAt, finishedAt = Number.NaN }: Operation) => (by === 'accepted' ? acceptedAt : finishedAt)
  const found = [...tables.allOperations()].filter(
    row => matches(row, { ...of, action, state }) && timeOf(row) >= after && timeOf(row) < before,
  )
  return page(toOperationList(query), found, row => [timeOf(row), row.id])
}

function matches<Row>(row: Row, wanted: Partial<Row>): boolean {
  return (Object.keys(wanted) as (keyof Row)[]).every(key => wanted[key] === undefined || wanted[key] === row[key])
}

/** What is deleted is shown only to a query that asks for it. */
function isShown(row: Instance | Binding, phase: string | undefined): boolean {
  return row.phase !== 'deleted' || phase === 'deleted'
}

function page<Item, Row extends Item>(
  list: List<Item>,
  rows: readonly Row[],
  positionOf: (row: Row) => Position,
): Page<Item> {
  const { after, descending, limit } = list
  const compare = (one: Position, other: Position) => (descending ? -1 : 1) * comparePositions(one, other)
  const left = after === undefined ? rows : rows.filter(row => compare(positionOf(row), after) > 0)
  const sorted = [...left].sort((one, other) => compare(positionOf(one), positionOf(other))).slice(0, limit + 1)
  return structuredClone(toPage(list, sorted, positionOf, row => row))
}

function comparePositions(one: Position, other: Position): number {
  const index = one.findIndex((value, place) => value !== other[place])
  const [value, against] = [one[index], other[index]]
  if (value === undefined || against === undefined) return 0
  return value < against ? -1 : 1
}
