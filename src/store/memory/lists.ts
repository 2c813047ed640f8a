import type {
  ActQuery,
  Binding,
  BindingQuery,
  HistoryEvent,
  Instance,
  InstanceCount,
  InstanceQuery,
  Operation,
  OperationError,
  OperationQuery,
  Page,
} from '../../store.ts'
import type { Position } from '../leads.ts'
import {
  type List,
  type PageParts,
  toActList,
  toBindingList,
  toInstanceList,
  toOperationList,
  toPage,
} from '../lists.ts'
import { compare, type Walk } from './order.ts'
import type { EventRow, Tables } from './tables.ts'

/** There is no index of a name, but no row is read from anywhere: as many take no longer than those of a database. */
const walk = 100_000

export function listInstances(tables: Tables, query: InstanceQuery) {
  const { platform, serviceId, planId, revisionId, phase, usable } = query
  const list = toInstanceList(query, { walk })
  const wanted = given<Instance>({ platform, serviceId, planId, revisionId, phase, usable })
  const rows = tables.instances.walk(tables.orders.created, list)
  return page(list, rows, {
    isWanted: row => matches(row, wanted) && isShown(row, phase),
    positionOf: ({ createdAt, id }) => [createdAt, id],
    toItem: itself,
  })
}

export function countInstances(tables: Tables): readonly InstanceCount[] {
  const counts = new Map<string, InstanceCount>()
  for (const { serviceId, planId, revisionId, phase } of tables.instances.all()) {
    if (phase === 'deleted') continue
    const pinned = revisionId !== undefined
    const key = JSON.stringify([serviceId, planId, pinned])
    counts.set(key, { serviceId, planId, pinned, instances: (counts.get(key)?.instances ?? 0) + 1 })
  }
  return [...counts.values()]
}

export function listBindings(tables: Tables, query: BindingQuery) {
  const { instanceId, serviceId, planId, phase, by = 'created', after: from = -Infinity, before = Infinity } = query
  const list = toBindingList(query, { keys: 2, walk })
  const wanted = given<Binding>({ instanceId, serviceId, planId, phase })
  const timeOf = ({ createdAt, expiresAt = Number.NaN, phase: is }: Binding) => {
    if (by === 'created') return createdAt
    return is === 'deleted' ? Number.NaN : expiresAt
  }
  const isInTime = (row: Binding) => timeOf(row) >= from && timeOf(row) < before
  const positionOf = (row: Binding): Position => [timeOf(row), row.instanceId, row.id]
  const order = by === 'created' ? tables.orders.createdBindings : tables.orders.expiring
  const rows =
    instanceId === undefined
      ? tables.bindings.walk(order, { ...list, from, before })
      : sorted(list, tables.bindings.allOf(instanceId).filter(isInTime), positionOf)
  const isWanted = (row: Binding) => matches(row, wanted) && isShown(row, phase) && isInTime(row)
  return page(list, rows, { isWanted, positionOf, toItem: itself })
}

export function listOperations(tables: Tables, query: OperationQuery) {
  const { of, action, state, by = 'accepted', after: from = -Infinity, before = Infinity } = query
  const list = toOperationList(query, { walk })
  const { serviceId, planId, platform, step, fingerprint } = query
  const wanted = given<Operation>({ ...of, action, state, serviceId, planId, platform })
  const error = given<OperationError>({ step, fingerprint })
  const timeOf = ({ acceptedAt, finishedAt = Number.NaN }: Operation) => (by === 'accepted' ? acceptedAt : finishedAt)
  const positionOf = (row: Operation): Position => [timeOf(row), row.id]
  const rows =
    of === undefined
      ? tables.operations.walk(tables.orders[by], { ...list, from, before })
      : sorted(list, tables.operations.allOf(of.instanceId), positionOf)
  const isWanted = (row: Operation) =>
    matches(row, wanted) &&
    (error.length === 0 || (row.state === 'failed' && matches(row.error ?? {}, error))) &&
    timeOf(row) >= from &&
    timeOf(row) < before
  return page(list, rows, { isWanted, positionOf, toItem: itself })
}

export function listActs(tables: Tables, query: ActQuery): Page<HistoryEvent> {
  const { by, verb, instanceId, after: from = -Infinity, before = Infinity } = query
  const list = toActList(query, { walk })
  const wanted = given<HistoryEvent>({ by, verb, instanceId })
  return page(list, tables.events.walk(tables.orders.acted, { ...list, from, before }), {
    isWanted: ({ event }) => matches(event, wanted),
    positionOf: ({ key, event }: EventRow) => [event.at, key],
    toItem: ({ event }) => event,
  })
}

type Wanted<Row> = readonly (readonly [key: keyof Row, value: unknown])[]

/** What a query says. */
function given<Row>(query: Partial<Row>): Wanted<Row> {
  return (Object.entries(query) as [keyof Row, unknown][]).filter(([, value]) => value !== undefined)
}

function matches<Row>(row: Partial<Row>, wanted: Wanted<Row>): boolean {
  return wanted.every(([key, value]) => row[key] === value)
}

/** What is deleted is shown only to a query that asks for it. */
function isShown(row: Instance | Binding, phase: string | undefined): boolean {
  return row.phase !== 'deleted' || phase === 'deleted'
}

/** Few rows, which no order has apart. */
function sorted<Row>({ after, descending }: Walk, rows: readonly Row[], positionOf: (row: Row) => Position): Row[] {
  const sign = descending ? -1 : 1
  const left = after === undefined ? rows : rows.filter(row => sign * compare(positionOf(row), after) > 0)
  return [...left].sort((one, other) => sign * compare(positionOf(one), positionOf(other)))
}

interface WantedParts<Row, Item> extends PageParts<Row, Item> {
  isWanted(row: Row): boolean
}

/** As many of the wanted rows as the page has room for, and one more where there is one; or as many as may be looked at. */
function page<Item, Row>(
  list: List<Item>,
  rows: Iterable<Row>,
  { isWanted, ...parts }: WantedParts<Row, Item>,
): Page<Item> {
  const found: Row[] = []
  let looked = 0
  for (const row of rows) {
    if (isWanted(row)) found.push(row)
    looked += 1
    if (found.length > list.limit) break
    if (looked === list.examine) return toPage(list, found, { ...parts, edge: parts.positionOf(row) })
  }
  return toPage(list, found, parts)
}

const itself = <Row>(row: Row) => row
