/** Lists in SQL, the same for both databases. Each text names what leads to its index: see the migrations. */
import type {
  ActQuery,
  BindingQuery,
  BindingSummary,
  HistoryEvent,
  InstanceCount,
  InstanceQuery,
  InstanceSummary,
  OperationQuery,
  OperationSummary,
  Page,
} from '../store.ts'
import { fromText, text } from './columns.ts'
import { keyOf } from './keys.ts'
import {
  actWalks,
  bindingWalks,
  type Choice,
  choose,
  instanceWalks,
  type Lead,
  operationWalks,
  type Position,
  type Walks,
} from './leads.ts'
import { type List, toActList, toBindingList, toInstanceList, toOperationList, toPage } from './lists.ts'
import type { Condition, Dialect, Value } from './sql-dialect.ts'

type Row = Readonly<Record<string, unknown>>

/** Values stand where the text has question marks. */
interface SqlText {
  readonly text: string
  readonly values: readonly (string | number)[]
}

export interface SqlRead<Item> extends SqlText {
  toPage(rows: readonly Row[]): Page<Item>
}

export interface SqlList<Item> {
  /** Asked first: each answers one row, or none. */
  readonly edges: readonly SqlText[]
  /** What is read then, by what the edges answered. */
  after(edges: readonly (Row | undefined)[]): SqlRead<Item>
}

export function instanceList(query: InstanceQuery, { table, beside }: Dialect): SqlList<InstanceSummary> {
  const { phase, usable, serviceId, planId, platform, revisionId } = query
  const filters = [
    ...notDeleted(phase),
    ...equal('serviceId', beside('service_id'), serviceId, keyOf),
    ...equal('planId', beside('plan_id'), planId, keyOf),
    ...equal('platform', beside('platform'), platform, keyOf),
    ...equal('revisionId', beside('revision_id'), revisionId),
    ...equal('phase', beside('phase'), phase),
  ]
  if (usable !== undefined) filters.push({ lead: 'usable', text: usable ? 'usable is true' : 'usable is not true' })
  return listOf({
    list: toInstanceList(query),
    walks: instanceWalks(query),
    from: table('instance'),
    order: ['created_at', 'id'],
    leads: {
      ...leadsOfResources(query),
      revisionId: [`revision_id = ?`, revisionId],
      platform: ['deleted_at is null and platform = ?', mapped(platform, keyOf)],
      usable: ['deleted_at is null and not usable'],
    },
    filters,
    toItem: toSummary,
  })
}

/** One row for each plan, with the document of one of its instances: columns may hold a hash in place of an id. */
export function instanceCounts({ table, instanceKey: key }: Dialect) {
  const instance = table('instance')
  return {
    text: `select one.doc, counted.instances from (
      select min(${key}) as one, count(*) as instances from ${instance}
      where deleted_at is null and phase <> 'deleted' group by service_id, plan_id, revision_id is null
    ) counted join ${instance} one on one.${key} = counted.one`,
    toCount({ doc, instances }: Row): InstanceCount {
      const { serviceId, planId, revisionId } = JSON.parse(text(doc))
      return { serviceId, planId, pinned: revisionId !== undefined, instances: Number(instances) }
    },
  }
}

export function bindingList(query: BindingQuery, { table, id, beside }: Dialect): SqlList<BindingSummary> {
  const { phase, instanceId, serviceId, planId, by = 'created', after, before } = query
  const leads: Leads = { ...leadsOfResources(query), instance: ['instance_id = ?', mapped(instanceId, id)] }
  const expiring = 'deleted_at is null and expires_at is not null'
  return listOf({
    list: toBindingList(query, { keys: 2 }),
    walks: bindingWalks(query),
    from: table('binding'),
    order: [`${by}_at`, 'instance_id', 'id'],
    few: ['created_at', 'instance_id', 'id'],
    leads: by === 'expires' ? { ...leads, time: [expiring] } : leads,
    filters: [
      ...(by === 'expires' ? [{ lead: 'time' as const, text: expiring }] : []),
      ...notDeleted(phase),
      ...equal('serviceId', beside('service_id'), serviceId, keyOf),
      ...equal('planId', beside('plan_id'), planId, keyOf),
      ...equal('phase', beside('phase'), phase),
    ],
    after,
    before,
    toItem: toSummary,
  })
}

/** Their conditions are those of the indexes, word for word. */
function leadsOfResources({
  phase,
  serviceId,
  planId,
}: Omit<InstanceQuery, 'phase'> & { readonly phase?: string }): Leads {
  return {
    time: ['deleted_at is null'],
    serviceId: ['deleted_at is null and service_id = ?', mapped(serviceId, keyOf)],
    planId: ['deleted_at is null and plan_id = ?', mapped(planId, keyOf)],
    phase: [`phase = '${phase}' and phase <> 'ready'`],
  }
}

function notDeleted(phase: string | undefined): Filter[] {
  return phase === 'deleted' ? [] : [{ text: `deleted_at is null and phase <> 'deleted'` }]
}

export function operationList(query: OperationQuery, dialect: Dialect): SqlList<OperationSummary> {
  const { id, generated, beside, activeOperations, operationsOf } = dialect
  const { of, action, state, by = 'accepted', step, fingerprint, serviceId, planId, platform } = query
  const walks = operationWalks(query)
  const table = dialect.table('operation')
  const ended = (column: string) => `${column} = ? and finished_at is not null`
  const hasFailed = `${beside('state')} = 'failed'`
  const parts: Parts<OperationSummary> = {
    list: toOperationList(query),
    walks,
    from: walks.leads[0] === 'active' ? activeOperations : table,
    order: [`${by}_at`, 'id'],
    few: ['accepted_at', 'id'],
    columns: ['state', 'attempt', 'not_before', 'description'],
    // Where an index has a condition, it is here word for word.
    leads: {
      time: by === 'finished' ? ['finished_at is not null'] : [],
      failed: [`state = '${state}' and state in ('failed', 'superseded')`],
      step: [`failed_step = ? and state = 'failed'`, mapped(step, generated)],
      fingerprint: [`fingerprint = ? and state = 'failed'`, fingerprint],
      serviceId: [ended('service_key'), mapped(serviceId, generated)],
      planId: [ended('plan_key'), mapped(planId, generated)],
      platform: [ended('platform_key'), mapped(platform, generated)],
      action: [ended('action'), action],
      instance: operationsOf(of?.instanceId),
    },
    filters: [
      ...(by === 'finished' ? [{ lead: 'time' as const, text: 'finished_at is not null' }] : []),
      ...equal(undefined, 'binding_id', of?.bindingId, id),
      ...equal('serviceId', beside('service_key'), serviceId, generated),
      ...equal('planId', beside('plan_key'), planId, generated),
      ...equal('platform', beside('platform_key'), platform, generated),
      ...equal('action', beside('action'), action),
      ...equal('step', `${hasFailed} and ${beside('failed_step')}`, step, generated),
      ...equal('fingerprint', `${hasFailed} and ${beside('fingerprint')}`, fingerprint),
      ...equal('failed', beside('state'), state),
    ],
    after: query.after,
    before: query.before,
    toItem: toSummary,
  }
  const whole = listOf(parts)
  if (by === 'finished' || state !== undefined || step !== undefined || fingerprint !== undefined) return whole
  // Those that have ended have an index for each name; the active ones are few, and walked.
  return {
    ...whole,
    after(edges) {
      const choice = choiceOf(parts, edges)
      if (!isName(choice.lead)) return whole.after(edges)
      const active = selectRows({ ...parts, from: activeOperations, leads: {} }, { ...choice, lead: 'active' })
      const rest = selectRows(parts, choice)
      return {
        ...whole.after(edges),
        text: `select * from (select * from (${active.text}) part0 union all select * from (${rest.text}) part1) parts
          order by ${sorted(parts)} limit ?`,
        values: [...active.values, ...rest.values, parts.list.limit + 1],
      }
    },
  }
}

function isName(lead: Lead): boolean {
  return lead === 'serviceId' || lead === 'planId' || lead === 'platform' || lead === 'action'
}

/** By the index of nothing but acts, or by that of the one instance, which has few. */
export function actList(query: ActQuery, { table, generated, beside, eventsOf }: Dialect): SqlList<HistoryEvent> {
  const { by, verb, instanceId, after, before } = query
  const [ofOne, ...ids] = eventsOf(instanceId)
  return listOf({
    list: toActList(query),
    walks: actWalks(query),
    from: table('history'),
    order: ['acted_at', 'seq'],
    leads: {
      time: ['acted_at is not null'],
      by: ['acted_at is not null and acted_by = ?', mapped(by, generated)],
      verb: ['acted_at is not null and acted_verb = ?', verb],
      instance: [`acted_at is not null and ${ofOne}`, ...ids],
    },
    filters: [...equal('by', beside('acted_by'), by, generated), ...equal('verb', beside('acted_verb'), verb)],
    after,
    before,
    toItem: row => JSON.parse(text(row.doc)),
  })
}

/** What leads to an index. */
type Leads = Readonly<Partial<Record<Lead, Condition | readonly []>>>

/** `lead`: where it leads, every row of its index passes. */
interface Filter {
  readonly lead?: Lead
  readonly text: string
  readonly values?: readonly (string | number)[]
}

interface Parts<Item> {
  readonly list: List<Item>
  readonly walks: Walks
  readonly from: string
  /** The columns of a position. */
  readonly order: readonly string[]
  /** The order of the indexes that have another one. */
  readonly few?: readonly string[]
  /** What a list shows and the document does not have. */
  readonly columns?: readonly string[]
  readonly leads: Leads
  readonly filters: readonly Filter[]
  /** Times from this one on, and before that one. */
  readonly after?: number
  readonly before?: number
  toItem(row: Row): Item
}

function listOf<Item>(parts: Parts<Item>): SqlList<Item> {
  const { list, walks } = parts
  return {
    edges: walks.sifts
      ? [...walks.leads.map(lead => edgeOf(parts, lead)), ...walks.few.map(lead => fewOf(parts, lead))]
      : [],
    after(edges) {
      const choice = choiceOf(parts, edges)
      return {
        ...selectRows(parts, choice),
        toPage: rows =>
          toPage(list, rows, { positionOf: row => positionOf(parts, row), toItem: parts.toItem, edge: choice.edge }),
      }
    },
  }
}

function choiceOf<Item>(parts: Parts<Item>, edges: readonly (Row | undefined)[]): Choice {
  const { list, walks } = parts
  if (!walks.sifts) return { lead: walks.leads[0] ?? 'time', byHand: false }
  return choose(
    walks,
    edges.map(row => row && positionOf(parts, row)),
    list,
  )
}

function positionOf({ order: [time = '', ...keys] }: Pick<Parts<unknown>, 'order'>, row: Row): Position {
  return [Number(row[time]), ...keys.map(key => String(row[key]))]
}

/** The last of the rows that one page may look at. */
function edgeOf<Item>(parts: Parts<Item>, lead: Lead): SqlText {
  const where = new Where()
  where.lead(parts, lead)
  where.rest(parts)
  return {
    text: `select ${parts.order.join(', ')} from ${parts.from}${where.text()} order by ${sorted(parts)} limit 1 offset ?`,
    values: [...where.values, parts.list.examine - 1],
  }
}

/** Whether an index has more rows than one page may look at. */
function fewOf<Item>(parts: Parts<Item>, lead: Lead): SqlText {
  const { from, order, few: columns = order, list } = parts
  const where = new Where()
  where.lead(parts, lead)
  const names = columns.join(', ')
  return {
    text: `select ${names} from ${from}${where.text()} order by ${names} limit 1 offset ?`,
    values: [...where.values, list.examine - 1],
  }
}

function selectRows<Item>(parts: Parts<Item>, { lead, byHand, edge }: Choice): SqlText {
  const { from, order, columns = [], filters, list } = parts
  const where = new Where()
  where.lead(parts, lead)
  where.rest(parts)
  if (edge !== undefined) where.add(...beyond(order, list.descending ? '>=' : '<=', edge))
  for (const filter of filters)
    if (filter.lead === undefined || filter.lead !== lead) where.add(filter.text, ...(filter.values ?? []))
  const selected = [...order, ...columns, 'doc'].join(', ')
  return {
    text: `select ${selected} from ${from}${where.text()} order by ${sorted(parts, byHand)} limit ?`,
    values: [...where.values, list.limit + 1],
  }
}

/** `byHand`: by no index. */
function sorted<Item>({ order, list }: Parts<Item>, byHand = false): string {
  const direction = list.descending ? 'desc' : 'asc'
  return order.map((column, index) => `${byHand && index === 0 ? '+' : ''}${column} ${direction}`).join(', ')
}

function beyond(
  order: readonly string[],
  sign: string,
  position: Position,
): [text: string, ...values: (string | number)[]] {
  return [`(${order.join(', ')}) ${sign} (${order.map(() => '?').join(', ')})`, ...position]
}

function equal(
  lead: Lead | undefined,
  column: string,
  value: string | undefined,
  toKey = (id: string) => id,
): Filter[] {
  return value === undefined ? [] : [{ lead, text: `${column} = ?`, values: [toKey(value)] }]
}

function mapped(value: string | undefined, toKey: (id: string) => string): string | undefined {
  return value === undefined ? undefined : toKey(value)
}

function toSummary<Item>({ doc, state, attempt, not_before: notBefore, description = null }: Row): Item {
  return { ...JSON.parse(text(doc)), state, attempt, notBefore, description: fromText(description) }
}

class Where {
  readonly values: (string | number)[] = []
  readonly #conditions: string[] = []

  add(condition: string, ...values: readonly Value[]): void {
    this.#conditions.push(condition)
    this.values.push(...values.filter(value => value !== undefined))
  }

  lead({ leads }: Pick<Parts<unknown>, 'leads'>, lead: Lead): void {
    const [condition, ...values] = leads[lead] ?? []
    if (condition !== undefined) this.add(condition, ...values)
  }

  /** What is left of the list after the cursor, within its times. */
  rest<Item>({ list, order, after, before }: Parts<Item>): void {
    const [time = ''] = order
    if (after !== undefined) this.add(`${time} >= ?`, after)
    if (before !== undefined) this.add(`${time} < ?`, before)
    if (list.after !== undefined) this.add(...beyond(order, list.descending ? '<' : '>', list.after))
  }

  text(): string {
    return this.#conditions.length === 0 ? '' : ` where ${this.#conditions.join(' and ')}`
  }
}
