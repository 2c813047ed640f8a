/** What the stores do alike for lists: the position of a row, its cursor, and what a list shows of a row. */
import { actions } from '../protocol/actions.ts'
import { parseJson } from '../protocol/json.ts'
import {
  type ActQuery,
  type BindingQuery,
  type BindingSummary,
  bindingSummaryKeys,
  CursorError,
  type HistoryEvent,
  type InstanceQuery,
  type InstanceSummary,
  instanceSummaryKeys,
  type ListQuery,
  largestPage,
  largestWalk,
  type OperationQuery,
  type OperationSummary,
  operationSummaryKeys,
  type Page,
} from '../store.ts'
import type { Position } from './leads.ts'

/** A query as the stores work with it. */
export interface List<Item> {
  readonly name: string
  readonly descending: boolean
  readonly limit: number
  /** How many rows are looked at for a page. */
  readonly examine: number
  /** The rows after this position. */
  readonly after?: Position
  readonly shown: readonly (keyof Item)[]
}

/** What a store of databases takes for granted. `keys`: how many keys tell rows of the same time apart. */
const usual = { keys: 1, walk: largestWalk }

export function toInstanceList(query: InstanceQuery, how: Partial<typeof usual> = {}): List<InstanceSummary> {
  return toList(instances, query, instances.rows, how)
}

export function toBindingList(query: BindingQuery, how: Partial<typeof usual> = {}): List<BindingSummary> {
  return toList(bindings, query, query.by === 'expires' ? 'bindings by expiry' : bindings.rows, how)
}

/** The two lists of operations: a cursor of one is of no use to the other. */
export function toOperationList(query: OperationQuery, how: Partial<typeof usual> = {}): List<OperationSummary> {
  return toList(operations, query, `operations by ${query.by ?? 'accepted'}`, how)
}

export function toActList(query: ActQuery, how: Partial<typeof usual> = {}): List<HistoryEvent> {
  return toList(acts, query, acts.rows, how)
}

function toList<Item>(kind: Kind<Item>, query: ListQuery, title: string, how: Partial<typeof usual>): List<Item> {
  checkQuery(kind, query)
  const { keys, walk } = { ...usual, ...how }
  const { order = 'newest', limit = 50, examine = walk, cursor } = query
  const name = `${title} ${order}`
  return {
    name,
    descending: order === 'newest',
    limit: Math.min(Math.trunc(limit), largestPage),
    examine: Math.min(Math.trunc(examine), walk),
    after: cursor === undefined ? undefined : readCursor(name, cursor, keys),
    shown: kind.shown,
  }
}

interface Kind<Item> {
  readonly rows: string
  readonly shown: readonly (keyof Item)[]
  /** What a query may say, and the words where only some are possible: they stand in SQL as they are. */
  readonly possible: Readonly<Record<string, readonly unknown[] | undefined>>
}

const anything = undefined
const phase = ['creating', 'ready', 'updating', 'deleting', 'failed', 'deleted']
const ofEachList = { order: ['newest', 'oldest'], limit: anything, cursor: anything, examine: anything }
const ofEachResource = { ...ofEachList, serviceId: anything, planId: anything, phase }

const instances: Kind<InstanceSummary> = {
  rows: 'instances',
  shown: instanceSummaryKeys,
  possible: { ...ofEachResource, platform: anything, revisionId: anything, usable: [true, false] },
}

const bindings: Kind<BindingSummary> = {
  rows: 'bindings',
  shown: bindingSummaryKeys,
  possible: {
    ...ofEachResource,
    instanceId: anything,
    by: ['created', 'expires'],
    after: anything,
    before: anything,
  },
}

const operations: Kind<OperationSummary> = {
  rows: 'operations',
  shown: operationSummaryKeys,
  possible: {
    ...ofEachList,
    of: anything,
    serviceId: anything,
    planId: anything,
    platform: anything,
    step: anything,
    fingerprint: anything,
    action: actions,
    state: ['queued', 'running', 'succeeded', 'failed', 'superseded'],
    by: ['accepted', 'finished'],
    after: anything,
    before: anything,
  },
}

const acts: Kind<HistoryEvent> = {
  rows: 'acts',
  shown: [
    'at',
    'verb',
    'by',
    'principal',
    'address',
    'reason',
    'requestId',
    'instanceId',
    'bindingId',
    'operationId',
    'action',
    'message',
    'before',
    'after',
  ],
  possible: {
    ...ofEachList,
    by: anything,
    verb: anything,
    instanceId: anything,
    after: anything,
    before: anything,
  },
}

/** Otherwise a mistake in a query would list the wrong rows. */
function checkQuery({ rows, possible }: Kind<never>, query: ListQuery): void {
  for (const [key, value] of Object.entries(query)) {
    if (!Object.hasOwn(possible, key))
      throw new TypeError(
        `the list of ${rows} cannot be asked for "${key}", but for ${Object.keys(possible).join(', ')}`,
      )
    const words = possible[key]
    if (value !== undefined && words?.includes(value) === false)
      throw new RangeError(`the list of ${rows}: ${key} must be ${words.join(' or ')}`)
  }
  const { limit = 1, examine = 1 } = query
  for (const [name, given, largest] of [
    ['limit', limit, largestPage],
    ['examine', examine, largestWalk],
  ] as const)
    if (typeof given !== 'number' || !(given >= 1))
      throw new RangeError(
        `the list of ${rows}: ${name} must be a number from 1 on (more than ${largest} are ${largest})`,
      )
}

export interface PageParts<Row, Item> {
  positionOf(row: Row): Position
  toItem(row: Row): Item
  readonly edge?: Position | undefined
}

/** `rows` are one more than the page holds, where there are so many up to `edge`: the last place that was looked at. */
export function toPage<Row, Item>(
  { name, limit, shown }: List<Item>,
  rows: readonly Row[],
  { positionOf, toItem, edge }: PageParts<Row, Item>,
): Page<Item> {
  const page = rows.slice(0, limit)
  const last = rows.length > limit ? page.at(-1) : undefined
  const place = last === undefined ? edge : positionOf(last)
  return { items: page.map(row => pick(toItem(row), shown)), next: place && writeCursor(name, place) }
}

function pick<Item>(row: Item, keys: readonly (keyof Item)[]): Item {
  return Object.fromEntries(keys.filter(key => row[key] !== undefined).map(key => [key, row[key]])) as Item
}

function writeCursor(name: string, position: Position): string {
  return Buffer.from(JSON.stringify([name, ...position])).toString('base64url')
}

function readCursor(name: string, cursor: string, keys: number): Position {
  const parsed = parseJson(Buffer.from(cursor, 'base64url').toString())
  const [from, time, ...rest] = Array.isArray(parsed) ? parsed : []
  const isPosition = typeof time === 'number' && rest.length === keys && rest.every(key => typeof key === 'string')
  if (from === name && isPosition) return [time, ...(rest as string[])]
  const reason = listName.test(String(from)) ? `it is from the list of ${from}` : 'it is not a cursor'
  throw new CursorError(`the cursor is not one of the list of ${name} (${reason}): begin without a cursor`)
}

const listName = /^(instances|bindings( by expiry)?|acts|operations by (accepted|finished)) (newest|oldest)$/
