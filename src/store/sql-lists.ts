/** Lists in SQL, the same for both databases. Each text names what leads to its index: see the migrations. */
import type { BindingQuery, InstanceCount, InstanceQuery, OperationQuery, Page } from '../store.ts'
import { fromText, text } from './columns.ts'
import { keyOf } from './keys.ts'
import { type List, toBindingList, toInstanceList, toOperationList, toPage } from './lists.ts'

type Row = Readonly<Record<string, unknown>>

/** What the databases do differently. */
export interface Dialect {
  /** The name of a table as statements write it. */
  table(name: 'instance' | 'binding' | 'operation'): string
  /** What stands in the columns of ids. */
  id(id: string): string
  /** Reads the operations that are active by their index, and lets nothing of the rest of the statement change that. */
  activeOperations: string
}

/** Values stand where the text has question marks. */
export interface SqlList<Item> {
  readonly text: string
  readonly values: readonly (string | number)[]
  toPage(rows: readonly Row[]): Page<Item>
}

export function instanceList(query: InstanceQuery, { table }: Dialect) {
  const where = new Where()
  where.equal('service_id', query.serviceId, keyOf)
  where.equal('plan_id', query.planId, keyOf)
  where.equal('platform', query.platform, keyOf)
  where.equal('revision_id', query.revisionId)
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

export function bindingList(query: BindingQuery, { table, id }: Dialect) {
  const where = new Where()
  where.equal('instance_id', query.instanceId, id)
  where.equal('service_id', query.serviceId, keyOf)
  where.equal('plan_id', query.planId, keyOf)
  where.phase(query.phase)
  const order = ['created_at', 'instance_id', 'id']
  return select(toBindingList(query, 2), { from: table('binding'), where, order })
}

export function operationList(query: OperationQuery, dialect: Dialect) {
  const list = toOperationList(query)
  const { of, action, state, by = 'accepted', after, before } = query
  const time = `${by}_at`
  const where = new Where()
  if (by === 'finished') where.add('finished_at is not null')
  where.equal('instance_id', of?.instanceId, dialect.id)
  where.equal('binding_id', of?.bindingId, dialect.id)
  where.equal('action', action)
  if (state !== undefined) where.add(`state = '${state}'`)
  if (state === 'failed' || state === 'superseded') where.add(`state in ('failed', 'superseded')`)
  if (after !== undefined) where.add(`${time} >= ?`, after)
  if (before !== undefined) where.add(`${time} < ?`, before)
  const active = (state === 'queued' || state === 'running') && of === undefined
  const from = active ? dialect.activeOperations : dialect.table('operation')
  return select(list, { from, where, order: [time, 'id'], columns: ['state', 'attempt', 'not_before', 'description'] })
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

  /** "deleted_at is null" and "phase <> 'ready'" are the conditions of the indexes, word for word. */
  phase(phase: string | undefined): void {
    if (phase !== 'deleted') this.add(`deleted_at is null and phase <> 'deleted'`)
    if (phase !== undefined) this.add(`phase = '${phase}'`)
    if (phase !== undefined && phase !== 'ready') this.add(`phase <> 'ready'`)
  }

  text(): string {
    return this.#conditions.length === 0 ? '' : ` where ${this.#conditions.join(' and ')}`
  }
}
