import type { Collection, Document, Filter } from 'mongodb'
import type { Page } from '../../store.ts'
import { type Choice, choose, type Lead, type Position, type Walks } from '../leads.ts'
import { type List, toPage } from '../lists.ts'
import type { Database } from './database.ts'

export interface Found {
  readonly time: number
  readonly key: string
  readonly doc: string
  /** Of an operation. */
  readonly description?: string
}

/** The name of an index, and what a document has that is in it. */
type Index = readonly [hint: string, holds?: Document]

export interface Asked<Item> {
  readonly list: List<Item>
  readonly walks: Walks
  /** What a position is made of. */
  readonly time: string
  readonly key?: string
  /** Times from this one on, and before that one. */
  readonly from?: number
  readonly before?: number
  readonly filters: Readonly<Record<string, Document | undefined>>
  /** Each has a hint: which index is faster would be found out by trying, and remembered for other values. */
  readonly leads: Readonly<Partial<Record<Lead, Index>>>
  /** Another index that has the rest of what was asked for: few rows. */
  besides?(lead: Lead): Lead | undefined
  toItem(found: Found): Item
}

/** An edge that is older than the page is still a place in the list: all up to there is looked at. */
export async function readPage<Row extends Document, Item>(
  ledger: Database,
  collection: Collection<Row>,
  asked: Asked<Item>,
): Promise<Page<Item>> {
  const rows = { ledger, collection: collection as unknown as Collection }
  const { list, toItem } = asked
  const choice = await chooseLead(rows, asked)
  const other = asked.besides?.(choice.lead)
  const both = await Promise.all([
    readRows(rows, asked, choice),
    other === undefined ? [] : readRows(rows, asked, { ...choice, lead: other }),
  ])
  const sign = list.descending ? -1 : 1
  const order = (one: Found, other: Found) => one.time - other.time || (one.key < other.key ? -1 : 1)
  const found = other === undefined ? both[0] : both.flat().sort((one, next) => sign * order(one, next))
  return toPage(list, found, { positionOf: ({ time, key }) => [time, key], toItem, edge: choice.edge })
}

interface Rows {
  readonly ledger: Database
  readonly collection: Collection
}

async function chooseLead<Item>(rows: Rows, asked: Asked<Item>): Promise<Choice> {
  const { list, walks } = asked
  if (!walks.sifts) return { lead: walks.leads[0] ?? 'time', byHand: false }
  const edges = await Promise.all([
    ...walks.leads.map(lead => findEdge(rows, asked, lead)),
    ...walks.few.map(lead => findMany(rows, asked, lead)),
  ])
  return choose(walks, edges, list)
}

/** The last of the documents that one page may look at. */
async function findEdge<Item>(
  { ledger, collection }: Rows,
  asked: Asked<Item>,
  lead: Lead,
): Promise<Position | undefined> {
  const [hint, holds = {}] = asked.leads[lead] ?? []
  const [found] = await collection
    .find<Found>(
      { $and: [holds, ...restOf(asked)] },
      { projection: positionOf(asked), hint, maxTimeMS: ledger.timeoutMs },
    )
    .sort(orderOf(asked))
    .skip(asked.list.examine - 1)
    .limit(1)
    .toArray()
  return found && [found.time, found.key]
}

/** Any of them, where an index has more documents than one page may look at. */
async function findMany<Item>(
  { ledger, collection }: Rows,
  { leads, list }: Asked<Item>,
  lead: Lead,
): Promise<Position | undefined> {
  const [hint, holds = {}] = leads[lead] ?? []
  const [found] = await collection
    .find(holds, { projection: { _id: 1 }, hint, maxTimeMS: ledger.timeoutMs })
    .skip(list.examine - 1)
    .limit(1)
    .toArray()
  return found && [0]
}

/** One more than the page holds, where there are so many. */
function readRows<Item>({ ledger, collection }: Rows, asked: Asked<Item>, { lead, edge }: Choice): Promise<Found[]> {
  const { list, leads, filters } = asked
  const [hint, holds = {}] = leads[lead] ?? []
  const upTo = edge === undefined ? [] : [beyond(asked, list.descending ? '$gt' : '$lt', edge, true)]
  const wanted = Object.values(filters).filter(filter => filter !== undefined)
  const projection = { ...positionOf(asked), _id: 0, doc: 1, state: 1, attempt: 1, notBefore: 1, description: 1 }
  return collection
    .find<Found>({ $and: [holds, ...restOf(asked), ...upTo, ...wanted] } as Filter<Document>, {
      projection,
      hint,
      maxTimeMS: ledger.timeoutMs,
    })
    .sort(orderOf(asked))
    .limit(list.limit + 1)
    .toArray()
}

function positionOf<Item>({ time, key = '_id' }: Asked<Item>): Document {
  return { time: `$${time}`, key: `$${key}` }
}

function orderOf<Item>({ list, time, key = '_id' }: Asked<Item>) {
  const direction = list.descending ? (-1 as const) : (1 as const)
  return { [time]: direction, [key]: direction }
}

/** What is left of the list after the cursor, within its times. */
function restOf<Item>(asked: Asked<Item>): Document[] {
  const { list, time, from, before } = asked
  const times = { $gte: from, $lt: before }
  return [
    ...(from === undefined && before === undefined ? [] : [{ [time]: times }]),
    ...(list.after === undefined ? [] : [beyond(asked, list.descending ? '$lt' : '$gt', list.after)]),
  ]
}

/** The first condition leads to the place in the index, the second is exact there. */
function beyond<Item>(
  { time, key = '_id' }: Asked<Item>,
  sign: '$lt' | '$gt',
  [at, id = '']: Position,
  inclusive = false,
): Document {
  return {
    [time]: { [`${sign}e`]: at },
    $or: [{ [time]: { [sign]: at } }, { [key]: { [inclusive ? `${sign}e` : sign]: id } }],
  }
}
