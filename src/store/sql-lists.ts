/** Lists in SQL, the same for both databases. Each text names what leads to its index: see the migrations. */
import type {
  ActQuery,
  BindingQuery,
  HistoryEvent,
  InstanceCount,
  InstanceQuery,
  OperationQuery,
  Page,
} from '../store.ts'
import { fromText, text } from './columns.ts'
import { keyOf } from './keys.ts'
import {
  type Lead,
  type List,
  leadOf,
  toActList,
  toBindingList,
  toInstanceList,
  toOperationList,
  toPage,
} from './lists.ts'

type Row = Readonly<Record<string, unknown>>

/** What the databases do differently. */
export interface Dialect {
  /** The name of a table as statements write it. */
  table(name: 'instance' | 'binding' | 'operation' | 'history'): string
  /** What stands in the columns of ids. */
  id(id: string): string
  /** Reads the operations that are active by their index, and lets nothing of the rest of the statement change that. */
  activeOperations: string
  /** A column that is compared without leading to an index, where the database would not know which one is better. */
  beside(column: string): string
  /** Joins `active`, the active operations, with the steps of each that have failed, as `s`. */
  failedSteps: string
  /** What stands in a column that is generated from the document, for a text from outside. */
  generated(name: string): string
  /** A number in the document of a row; null where there is none. A path with dots leads to the first field of an object. */
  numberIn(doc: string, path: string): string
}

/** Values stand where the text has question marks. */
export interface SqlList<Item> {
  readonly text: string
  readonly values: readonly (string | number)[]
  toPage(rows: readonly Row[]): Page<Item>
}

export function instanceList(query: InstanceQuery, { table, beside }: Dialect) {
  const where = new Where()
  const column = ledBy(leadOf(query), beside)
  where.service(column('serviceId', 'service_id'), query, keyOf)
  where.equal(column('planId', 'plan_id'), query.planId, keyOf)
  where.equal(column('platform', 'platform'), query.platform, keyOf)
  where.equal(column('revisionId', 'revision_id'), query.revisionId)
  where.phase(query.phase)
  if (query.usable !== undefined) where.add(query.usable ? 'usable' : 'not usable')
  return select(toInstanceList(query), { from: table('instance'), where, order: ['created_at', 'id'] })
}

/** One row for each plan, with the document of one of its instances: columns may hold a hash in place of an id. */
export function instanceCounts({ table }: Dialect) {
  const instance = table('instance')
  return {
    text: `select one.doc, counted.instances from (
      select min(id) as id, count(*) as instances from ${instance}
      where deleted_at is null and phase not in ('creating', 'deleted') group by service_id, plan_id, revision_id is null
    ) counted join ${instance} one on one.id = counted.id`,
    toCount({ doc, instances }: Row): InstanceCount {
      const { serviceId, planId, revisionId } = JSON.parse(text(doc))
      return { serviceId, planId, pinned: revisionId !== undefined, instances: Number(instances) }
    },
  }
}

export function bindingList(query: BindingQuery, { table, id, beside }: Dialect) {
  const { instanceId, by = 'created', after, before } = query
  const time = `${by}_at`
  const where = new Where()
  const column = ledBy(instanceId === undefined && by === 'created' ? leadOf(query) : undefined, beside)
  where.equal('instance_id', instanceId, id)
  where.service(column('serviceId', 'service_id'), query, keyOf)
  where.equal(column('planId', 'plan_id'), query.planId, keyOf)
  where.phase(query.phase, by === 'created' ? 'phase' : beside('phase'))
  // The condition of its index, word for word.
  if (by === 'expires') where.add('deleted_at is null and expires_at is not null')
  if (after !== undefined) where.add(`${time} >= ?`, after)
  if (before !== undefined) where.add(`${time} < ?`, before)
  const order = [time, 'instance_id', 'id']
  return select(toBindingList(query, 2), { from: table('binding'), where, order })
}

export function operationList(query: OperationQuery, dialect: Dialect) {
  const list = toOperationList(query)
  const { of, state, by = 'accepted', step, fingerprint } = query
  const time = `${by}_at`
  const table = dialect.table('operation')
  const columns = ['state', 'attempt', 'not_before', 'description']
  const order = [time, 'id']
  const active = (state === 'queued' || state === 'running') && of === undefined
  const isEnded = by === 'finished' || step !== undefined || fingerprint !== undefined
  const isNamed = leadOf(query) !== undefined
  if (active || of !== undefined || state === 'failed' || state === 'superseded' || isEnded || !isNamed) {
    const where = operationWhere(query, dialect)
    return select(list, { from: active ? dialect.activeOperations : table, where, order, columns })
  }
  // Those that have ended have an index for each of these; the active ones are few, and walked.
  const [queued, ended] = [operationWhere(query, dialect), operationWhere(query, dialect)]
  ended.add('finished_at is not null')
  const both = [
    select(list, { from: dialect.activeOperations, where: queued, order, columns }),
    select(list, { from: table, where: ended, order, columns }),
  ]
  const sorted = order.map(column => `${column} ${list.descending ? 'desc' : 'asc'}`).join(', ')
  return {
    ...(both[1] as (typeof both)[number]),
    text: `select * from (${both.map(({ text: each }, index) => `select * from (${each}) part${index}`).join(' union all ')}) parts
      order by ${sorted} limit ?`,
    values: [...both.flatMap(({ values }) => values), list.limit + 1],
  }
}

function operationWhere(query: OperationQuery, { id, generated, beside }: Dialect): Where {
  const { of, action, state, by = 'accepted', after, before, step, fingerprint } = query
  // There are few actions: in the order of their ends, those of one are found sooner among all than by their index.
  const lead = leadOf(by === 'finished' ? { ...query, action: undefined } : query)
  const column = ledBy(of === undefined ? lead : undefined, beside)
  const stateColumn = of === undefined ? 'state' : beside('state')
  const time = `${by}_at`
  const where = new Where()
  if (by === 'finished') where.add('finished_at is not null')
  where.equal('instance_id', of?.instanceId, id)
  where.equal('binding_id', of?.bindingId, id)
  where.service(column('serviceId', 'service_key'), query, generated)
  where.equal(column('planId', 'plan_key'), query.planId, generated)
  where.equal(column('platform', 'platform_key'), query.platform, generated)
  where.equal(column('action', 'action'), action)
  // The condition of their indexes, word for word.
  if (step !== undefined || fingerprint !== undefined) where.add(`${stateColumn} = 'failed'`)
  where.equal('failed_step', step, generated)
  where.equal('fingerprint', fingerprint)
  if (state !== undefined) where.add(`${stateColumn} = '${state}'`)
  if (state === 'failed' || state === 'superseded') where.add(`${stateColumn} in ('failed', 'superseded')`)
  if (after !== undefined) where.add(`${time} >= ?`, after)
  if (before !== undefined) where.add(`${time} < ?`, before)
  return where
}

/** How the columns are written, so that no more than one of them leads to an index. */
function ledBy(lead: Lead | undefined, beside: Dialect['beside']) {
  return (filter: Lead, column: string) => (filter === lead ? column : beside(column))
}

/** By the index of nothing but acts, or by that of the one instance, which has few. */
export function actList(query: ActQuery, { table, id, generated }: Dialect): SqlList<HistoryEvent> {
  const list = toActList(query)
  const { by, verb, instanceId, after, before } = query
  const where = new Where()
  where.add('acted_at is not null')
  where.equal('acted_by', by, generated)
  where.equal('acted_verb', verb)
  where.equal('instance_id', instanceId, id)
  if (after !== undefined) where.add('acted_at >= ?', after)
  if (before !== undefined) where.add('acted_at < ?', before)
  const { text: words, values } = select(list, { from: table('history'), where, order: ['acted_at', 'seq'] })
  const positionOf = (row: Row) => [Number(row.acted_at), String(row.seq)] as const
  return {
    text: words,
    values,
    toPage: rows => toPage(list, rows, positionOf, row => JSON.parse(text(row.doc))),
  }
}

interface Select {
  readonly from: string
  readonly where: Where
  /** The columns of a position. */
  readonly order: readonly string[]
  /** What a list shows and the document does not have. */
  readonly columns?: readonly string[]
}

function select<Item>(list: List<Item>, { from, where, order, columns = [] }: Select): SqlList<Item> {
  const names = order.join(', ')
  if (list.after !== undefined)
    where.add(`(${names}) ${list.descending ? '<' : '>'} (${order.map(() => '?').join(', ')})`, ...list.after)
  const sorted = order.map(column => `${column} ${list.descending ? 'desc' : 'asc'}`).join(', ')
  const selected = [...order, ...columns, 'doc'].join(', ')
  const [time = '', ...keys] = order
  return {
    text: `select ${selected} from ${from}${where.text()} order by ${sorted} limit ?`,
    values: [...where.values, list.limit + 1],
    toPage: rows => toPage(list, rows, row => [Number(row[time]), ...keys.map(key => text(row[key]))], toSummary<Item>),
  }
}

function toSummary<Item>({ doc, state, attempt, not_before: notBefore, description = null }: Row): Item {
  return { ...JSON.parse(text(doc)), state, attempt, notBefore, description: fromText(description) }
}

class Where {
  readonly values: (string | number)[] = []
  readonly #conditions: string[] = []

  add(condition: string, ...values: readonly (string | number)[]): void {
    this.#conditions.push(condition)
    this.values.push(...values)
  }

  equal(column: string, value: string | undefined, toKey = (id: string) => id): void {
    if (value !== undefined) this.add(`${column} = ?`, toKey(value))
  }

  /** A plan is of one service: who takes them for independent expects few rows, and sorts them, where there are many. */
  service(column: string, { serviceId, planId }: InstanceQuery, toKey: (id: string) => string): void {
    if (planId === undefined) this.equal(column, serviceId, toKey)
    else if (serviceId !== undefined) this.add(`coalesce(${column} = ?, false)`, toKey(serviceId))
  }

  /** "deleted_at is null" and "phase <> 'ready'" are the conditions of the indexes, word for word. */
  phase(phase: string | undefined, column = 'phase'): void {
    if (phase !== 'deleted') this.add(`deleted_at is null and ${column} <> 'deleted'`)
    if (phase !== undefined) this.add(`${column} = '${phase}'`)
    if (phase !== undefined && phase !== 'ready') this.add(`${column} <> 'ready'`)
  }

  text(): string {
    return this.#conditions.length === 0 ? '' : ` where ${this.#conditions.join(' and ')}`
  }
}
