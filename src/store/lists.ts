/** What the stores do alike for lists: the position of a row, its cursor, and what a list shows of a row. */
import {
  type Binding,
  type BindingSummary,
  bindingSummaryKeys,
  CursorError,
  type Instance,
  type InstanceSummary,
  instanceSummaryKeys,
  type ListQuery,
  largestPage,
  type Operation,
  type OperationQuery,
  type OperationSummary,
  operationSummaryKeys,
  type Page,
} from '../store.ts'

/** Where a row stands in a list: its time, and the keys that tell rows of the same time apart. */
export type Position = readonly [time: number, ...keys: string[]]

/** A query as the stores work with it. */
export interface List {
  readonly name: string
  readonly descending: boolean
  readonly limit: number
  /** The rows after this position. */
  readonly after?: Position
}

/** `keys`: how many keys tell rows of the same time apart. */
export function toList(name: string, query: ListQuery, keys = 1): List {
  const { order = 'newest', limit = 50, cursor } = query
  const list = { name: `${name} ${order}`, descending: order === 'newest', limit: clamp(limit) }
  return cursor === undefined ? list : { ...list, after: readCursor(list.name, cursor, keys) }
}

/** The two lists of operations: a cursor of one is of no use to the other. */
export function toOperationList(query: OperationQuery): List {
  return toList(`operations by ${query.by ?? 'accepted'}`, query)
}

/** `rows` are one more than the page holds, where there are so many. */
export function toPage<Row, Item>(
  { name, limit }: List,
  rows: readonly Row[],
  positionOf: (row: Row) => Position,
  toItem: (row: Row) => Item,
): Page<Item> {
  const shown = rows.slice(0, limit)
  const last = rows.length > limit ? shown.at(-1) : undefined
  return { items: shown.map(toItem), next: last && writeCursor(name, positionOf(last)) }
}

export function toInstanceSummary(row: Partial<Instance>): InstanceSummary {
  return pick(row as Instance, instanceSummaryKeys)
}

export function toBindingSummary(row: Partial<Binding>): BindingSummary {
  return pick(row as Binding, bindingSummaryKeys)
}

export function toOperationSummary(row: Partial<Operation>): OperationSummary {
  return pick(row as Operation, operationSummaryKeys)
}

function pick<Row, Key extends keyof Row>(row: Row, keys: readonly Key[]): Pick<Row, Key> {
  return Object.fromEntries(keys.filter(key => row[key] !== undefined).map(key => [key, row[key]])) as Pick<Row, Key>
}

function clamp(limit: number): number {
  return Math.max(1, Math.min(Math.trunc(limit) || 1, largestPage))
}

function writeCursor(name: string, position: Position): string {
  return Buffer.from(JSON.stringify([name, ...position])).toString('base64url')
}

function readCursor(name: string, cursor: string, keys: number): Position {
  const [from, time, ...rest] = parse(cursor)
  const isPosition = typeof time === 'number' && rest.length === keys && rest.every(key => typeof key === 'string')
  if (from === name && isPosition) return [time, ...(rest as string[])]
  const reason = typeof from === 'string' && isPosition ? `it is from the list of ${from}` : 'it is not a cursor'
  throw new CursorError(`the cursor is not one of the list of ${name} (${reason}): begin without a cursor`)
}

function parse(cursor: string): readonly unknown[] {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(parsed) ? parsed : []
  } catch {
    return []
  }
}
