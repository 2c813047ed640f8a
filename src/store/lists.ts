/** What the stores do alike for lists: the position of a row, its cursor, and what a list shows of a row. */
import { actions } from '../protocol/actions.ts'
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
export function toList(name: 'instances' | 'bindings', query: ListQuery, keys = 1): List {
  return readQuery(name, name, query, keys)
}

/** The two lists of operations: a cursor of one is of no use to the other. */
export function toOperationList(query: OperationQuery): List {
  return readQuery('operations', `operations by ${query.by ?? 'accepted'}`, query, 1)
}

function readQuery(of: string, title: string, query: ListQuery, keys: number): List {
  checkQuery(of, query)
  const { order = 'newest', limit = 50, cursor } = query
  const name = `${title} ${order}`
  const list = { name, descending: order === 'newest', limit: Math.min(Math.trunc(limit), largestPage) }
  return cursor === undefined ? list : { ...list, after: readCursor(name, cursor, keys) }
}

const anything = undefined
const phase = ['creating', 'ready', 'updating', 'deleting', 'failed', 'deleted']
const ofEachList = { order: ['newest', 'oldest'], limit: anything, cursor: anything }

/** What a query may say, and the words where only some are possible: they stand in SQL as they are. */
const possible: Readonly<Record<string, Readonly<Record<string, readonly unknown[] | undefined>>>> = {
  instances: {
    ...ofEachList,
    platform: anything,
    serviceId: anything,
    planId: anything,
    revisionId: anything,
    phase,
    usable: [true, false],
  },
  bindings: { ...ofEachList, instanceId: anything, serviceId: anything, planId: anything, phase },
  operations: {
    ...ofEachList,
    of: anything,
    action: actions,
    state: ['queued', 'running', 'succeeded', 'failed', 'superseded'],
    by: ['accepted', 'finished'],
    after: anything,
    before: anything,
  },
}

/** A mistake in a query would else be a list of the wrong rows. */
function checkQuery(name: string, query: ListQuery): void {
  const keys = possible[name] ?? {}
  for (const [key, value] of Object.entries(query)) {
    if (!Object.hasOwn(keys, key))
      throw new TypeError(`the list of ${name} cannot be asked for "${key}", but for ${Object.keys(keys).join(', ')}`)
    const words = keys[key]
    if (value !== undefined && words?.includes(value) === false)
      throw new RangeError(`the list of ${name}: ${key} must be ${words.join(' or ')}`)
  }
  const { limit = 1 } = query
  if (typeof limit !== 'number' || !(limit >= 1))
    throw new RangeError(
      `the list of ${name}: limit must be a number from 1 on (more than ${largestPage} are ${largestPage})`,
    )
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

function writeCursor(name: string, position: Position): string {
  return Buffer.from(JSON.stringify([name, ...position])).toString('base64url')
}

function readCursor(name: string, cursor: string, keys: number): Position {
  const [from, time, ...rest] = parse(cursor)
  const isPosition = typeof time === 'number' && rest.length === keys && rest.every(key => typeof key === 'string')
  if (from === name && isPosition) return [time, ...(rest as string[])]
  const reason = listName.test(String(from)) ? `it is from the list of ${from}` : 'it is not a cursor'
  throw new CursorError(`the cursor is not one of the list of ${name} (${reason}): begin without a cursor`)
}

const listName = /^(instances|bindings|operations by (accepted|finished)) (newest|oldest)$/

function parse(cursor: string): readonly unknown[] {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(parsed) ? parsed : []
  } catch {
    return []
  }
}
