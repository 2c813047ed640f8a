import type { Clock } from '../../clock.ts'
import type { LeftOut } from '../../domain/left-out.ts'
import { countedActions } from '../../domain/quota.ts'
import { emptied, type Sealer } from '../sealing.ts'
import type { Database, Statement } from './driver.ts'

/** The condition of the partial indexes, word for word: SQLite uses one only where the query says the same. */
const active = `state in ('queued', 'running')`

const operationColumns = `operation.id, operation.instance_id, operation.binding_id, operation.state, operation.attempt, operation.losses, operation.not_before,
  operation.lease_owner, operation.lease_until, operation.fence, operation.drains, operation.unclean,
  operation.checkpoint_at, operation.description, operation.doc, operation.sealed`

/** Not among the services and the platforms that two lists in JSON name: each is looked at once, and not by an index. */
const notLeftOut = `ifnull(operation.service_key, '') not in (select value from json_each(?))
      and ifnull(operation.platform_key, '') not in (select value from json_each(?))`

/** Its values. */
export function listed({ services, platforms }: LeftOut): [string, string] {
  return [JSON.stringify(services), JSON.stringify(platforms)]
}

/** "cross join" fixes the order of the tables: the due operations first, then what belongs to each. */
function due(also = ''): string {
  return `select ${operationColumns}, instance.doc as instance_doc, instance.sealed as instance_sealed,
      binding.doc as binding_doc, binding.sealed as binding_sealed,
      exists (select 1 from step where operation_id = operation.id) as has_steps
    from operation cross join instance on instance.number = operation.instance_number
      left join binding on binding.instance_id = operation.instance_id and binding.id = operation.binding_id
    where operation.${active} and operation.due_at <= ?${also} order by operation.due_at, operation.rowid limit ?`
}

/** Both counts stop at a number of rows. No lease that stands ends later than the longest one does. */
function backlog(also = ''): string {
  return `select
      (select due_at from operation where ${active} and due_at <= ?${also} order by due_at limit 1) as due_since,
      (select count(*) from (select 1 from operation where ${active} and due_at <= ?${also} limit ?)) as due,
      (select count(*) from (select state from operation
        where ${active} and due_at > ? and due_at <= ?${also} order by due_at limit ?) where state = 'running') as running`
}

const quotedActions = countedActions.map(action => `'${action}'`).join(', ')

/** The guard of every write of a worker. */
const held = `id = ? and fence = ? and state = 'running'`

/** The latest operation of a resource that lives: polls are answered from it. */
const needed = `(exists (select 1 from instance i where operation.binding_id is null and i.number = operation.instance_number
      and i.last_operation_id = operation.id and i.phase <> 'deleted')
    or exists (select 1 from binding b where b.instance_id = operation.instance_id and b.id = operation.binding_id
      and b.last_operation_id = operation.id and b.phase <> 'deleted'))`

/** It has ended, and still keeps something sealed. */
const keeps = `finished_at is not null and (sealed <> '${emptied.operation}'
    or exists (select 1 from step where operation_id = operation.id and step.sealed <> '${emptied.step}'))`

/** Of the instance that an id names; null where there is none. */
function numberOf(id: string): string {
  return `(select number from instance where id = ${id})`
}

export const ofInstance = `instance_number = ${numberOf('?')}`

/** Those of before its row was removed have no number any more. */
export const eventsOfInstance = `instance_id = ? and (${ofInstance} or instance_number is null)`

/** Some instance needs the revision. */
function used(id: string): string {
  return `(exists (select 1 from instance i where i.revision_id = ${id})
      or exists (select 1 from instance i where i.next_revision_id = ${id}))`
}

interface Table {
  readonly name: string
  readonly key: readonly string[]
  /** In the order in which rows.ts gives the values. */
  readonly columns: readonly string[]
  /** Those of indexes that most writes leave as they are. */
  readonly steady: readonly string[]
  /** What a new row has besides, by the places of the values. */
  readonly derived?: Readonly<Record<string, string>>
  /** What a write sets besides. */
  readonly reset?: string
}

const tables = {
  instance: {
    name: 'instance',
    key: ['id'],
    columns:
      words(`id observe_at phase last_operation_id unclean_until deleted_at revision_id next_revision_id pinned_plan
      created_at platform service_id plan_id usable doc sealed`),
    steady: words(`created_at platform service_id plan_id deleted_at revision_id next_revision_id pinned_plan`),
  },
  binding: {
    name: 'binding',
    key: ['instance_id', 'id'],
    columns: words(
      `instance_id id phase last_operation_id unclean_until deleted_at created_at service_id plan_id
      expires_at notice_at doc sealed`,
    ),
    steady: ['created_at', 'service_id', 'plan_id', 'deleted_at', 'expires_at', 'notice_at'],
  },
  operation: {
    name: 'operation',
    key: ['id'],
    columns:
      words(`id instance_id binding_id state attempt losses not_before lease_owner lease_until fence drains unclean
      checkpoint_at description finished_at accepted_at action service_key plan_key platform_key failed_step
      fingerprint doc sealed`),
    derived: { instance_number: numberOf('?2') },
    steady: words(`instance_id binding_id accepted_at action service_key plan_key platform_key`),
    reset: ', spent_at = null',
  },
} satisfies Readonly<Record<string, Table>>

function words(text: string): string[] {
  return text.split(/\s+/)
}

/** An upsert: "replace" would delete a row's children. */
function replace({ name, key, columns, derived = {}, reset = '' }: Table, left: readonly string[] = []): string {
  const changed = columns.filter(column => !key.includes(column) && !left.includes(column))
  const values = [...columns.map((_, index) => `?${index + 1}`), ...Object.values(derived)]
  return `insert into ${name} (${[...columns, ...Object.keys(derived)].join(', ')}) values (${values.join(', ')})
    on conflict (${key.join(', ')}) do update set ${changed.map(column => `${column} = excluded.${column}`).join(', ')}${reset}`
}

/**
 * Changes no row where a steady column changes: then the row has to be replaced. SQLite takes a row out of each index that has
 * a column which is set, and puts it in again, also where the value is the same.
 */
function put(table: Table): string {
  const same = table.steady.map(column => `${table.name}.${column} is excluded.${column}`)
  return `${replace(table, table.steady)} where ${same.join(' and ')}`
}

/** Every statement of the store. */
export const sql = {
  instance: 'select id, doc, sealed from instance where id = ?',
  putInstance: put(tables.instance),
  replaceInstance: replace(tables.instance),
  sealInstance: 'update instance set sealed = ? where id = ?',
  dueForObservation: 'select id from instance where observe_at <= ? order by observe_at, rowid limit ?',

  dueForExpiry: `select doc from binding where deleted_at is null and notice_at <= ? order by notice_at, rowid limit ?`,

  // An accept's first read, in one statement: most requests need no other.
  snapshot: `select id, doc, sealed,
      (select count(*) from binding
        where binding.instance_id = instance.id and phase in ('ready', 'creating', 'deleting')) as live,
      (select count(*) from operation
        where operation.instance_number = instance.number and ifnull(binding_id, '') > '' and ${active}) as active
    from instance where id = ?`,
  // What a platform has, each counted to a number.
  instancesOf: `select count(*) as count from (select 1 from instance
    where platform = ? and deleted_at is null and phase <> 'deleted' limit ?)`,
  bindingsOf: `select count(*) as count from (select 1 from instance i cross join binding b on b.instance_id = i.id
    where i.platform = ? and i.deleted_at is null and i.phase <> 'deleted' and b.phase <> 'deleted' limit ?)`,
  operationsOf: `select count(*) as count from (select 1 from operation where ${active} and due_at is not null
    and platform_key = ? and action in (${quotedActions}) limit ?)`,
  // From one to the next by an index, and not by way of all instances.
  platforms: `with recursive found (platform) as (
      select min(platform) from instance where deleted_at is null
      union all
      select (select min(x.platform) from instance x where x.deleted_at is null and x.platform > found.platform)
        from found where found.platform is not null
    )
    select (select i.doc from instance i where i.deleted_at is null and i.platform = found.platform
      order by i.created_at limit 1) as doc
    from found where found.platform is not null`,
  sweptBindings: `select count(*) as swept from operation
    where ${ofInstance} and ifnull(binding_id, '') > '' and ${active} and action = 'sweep'`,

  binding: 'select instance_id, id, doc, sealed from binding where instance_id = ? and id = ?',
  bindings: `select instance_id, id, doc, sealed from binding where instance_id = ? and phase <> 'deleted' order by rowid`,
  putBinding: put(tables.binding),
  replaceBinding: replace(tables.binding),
  sealBinding: 'update binding set sealed = ? where instance_id = ? and id = ?',

  operation: `select ${operationColumns} from operation where id = ?`,
  activeOperation: `select ${operationColumns} from operation
    where ${ofInstance} and ifnull(binding_id, '') = ? and ${active}`,
  heldOperation: `select ${operationColumns} from operation where ${held}`,
  putOperation: put(tables.operation),
  replaceOperation: replace(tables.operation),
  spendOperation: `update operation set spent_at = finished_at where id = ? and not ${needed}`,
  deleteOperation: 'delete from operation where id = ?',
  /** Of an instance with its bindings, or of the one binding that is named. */
  keepingOperations: `select id from operation where ${ofInstance} and binding_id is ifnull(?, binding_id) and ${keeps}`,
  /** Where what it was about is deleted. */
  keepingOperation: `select id from operation where id = ? and ${keeps}
    and (exists (select 1 from instance i where i.number = operation.instance_number and i.phase = 'deleted')
      or exists (select 1 from binding b
        where b.instance_id = operation.instance_id and b.id = operation.binding_id and b.phase = 'deleted'))`,
  emptyOperation: `update operation set sealed = '${emptied.operation}' where id = ?`,
  emptySteps: `update step set sealed = '${emptied.step}' where operation_id = ?`,

  due: due(),
  dueOthers: due(` and ${notLeftOut}`),
  // The fences of this claim are the highest there are: what lies at or below the one before was not claimed by it.
  // "is not null" holds for every active operation; it lets SQLite search the index instead of walking it.
  nextDue: `select due_at from operation where ${active} and due_at is not null and fence <= ? order by due_at limit 1`,
  nextOfOthers: `select due_at from operation
    where ${active} and due_at is not null and fence <= ? and ${notLeftOut} order by due_at limit 1`,
  backlog: backlog(),
  backlogOfOthers: backlog(` and ${notLeftOut}`),
  takeFences: `update counter set value = value + ? where name = 'fence' returning value`,
  // A value that stays the same would not be written to the disk.
  countPing: `insert into counter (name, value) values ('ping', 1) on conflict (name) do update set value = value + 1`,
  lastFence: `select value from counter where name = 'fence'`,
  lease: `update operation set state = 'running', attempt = ?, losses = ?, unclean = ?, lease_owner = ?, lease_until = ?,
      fence = ?, checkpoint_at = ? where id = ?`,

  renew: `update operation set lease_until = ? where ${held} and lease_until > ?`,
  describe: `update operation set description = ifnull(?, description) where ${held}`,
  progress: `update operation set description = ifnull(?, description), losses = 0, checkpoint_at = ? where ${held}`,
  park: `update operation set state = 'queued', not_before = ?, lease_owner = null, lease_until = null,
      description = ifnull(?, description) where ${held}`,
  endSupersededLease: `update operation set lease_until = ? where id = ? and fence = ? and state = 'superseded'`,
  startSuccessor: `update operation set not_before = min(not_before, ?) where drains = ? and state = 'queued'`,

  steps: 'select operation_id, name, doc, sealed from step where operation_id = ? order by rowid',
  doneSteps: `select operation_id, name, doc, sealed from step where operation_id = ? and state = 'done' order by rowid`,
  // Changes no row where the step is done: its output was promised.
  putStep: `insert into step (operation_id, name, state, doc, sealed) values (?, ?, ?, ?, ?)
    on conflict (operation_id, name) do update set state = excluded.state, doc = excluded.doc, sealed = excluded.sealed
    where step.state <> 'done'`,

  history: `select doc from history where ${eventsOfInstance} order by seq`,
  appendHistory: `insert into history (instance_id, instance_number, doc) values (?1, ${numberOf('?1')}, ?2)`,
  appendAct: `insert into history (instance_id, instance_number, doc, acted_at, acted_by, acted_verb)
    values (?1, ${numberOf('?1')}, ?2, ?3, ?4, ?5)`,

  shared: 'select phase, holder from shared_resource where key = ?',
  putShared: `insert into shared_resource (key, phase, holder) values (?, ?, ?)
    on conflict (key) do update set phase = excluded.phase, holder = excluded.holder`,
  removeShared: 'delete from shared_resource where key = ?',
  // Counts to one: decisions only ask whether there is another, and a popular resource has very many claims.
  otherClaims: `select count(*) as count from
    (select 1 from shared_claim where resource_key = ? and instance_id <> ? limit 1)`,
  claimants: `select instance.id from shared_claim cross join instance on instance.id = shared_claim.instance_id
    where resource_key = ? and observe_at is not null order by shared_claim.instance_id limit ?`,
  putClaim: 'insert into shared_claim (resource_key, instance_id) values (?, ?) on conflict do nothing',
  removeClaim: 'delete from shared_claim where resource_key = ? and instance_id = ?',
  holder: 'select state, lease_until from operation where id = ?',

  // No row where the period, or a later one, was taken before; but a run whose lease is over is taken over. Each chore
  // counts its own fences.
  takeChore: `insert into chore (name, due_at, owner, started_at, fence, lease_until) values (?, ?, ?, ?, 1, ?)
    on conflict (name) do update set due_at = excluded.due_at, owner = excluded.owner,
      started_at = excluded.started_at, fence = chore.fence + 1, lease_until = excluded.lease_until, finished_at = null,
      result = null
    where (chore.finished_at is not null and excluded.due_at > chore.due_at)
      or (chore.finished_at is null and excluded.due_at >= chore.due_at and chore.lease_until <= excluded.started_at)
    returning fence`,
  renewChore: `update chore set lease_until = ? where lease_until > ? and name = ? and fence = ? and finished_at is null`,
  finishChore: `update chore set lease_until = null, finished_at = ?, result = ?
    where name = ? and fence = ? and finished_at is null`,
  // The whole table, in the order of its key: there are as many rows as the broker has chores.
  chores: `select name, due_at, owner, started_at, fence, lease_until, finished_at, result from chore
    where name >= '' order by name`,

  nameHolder: 'select owner, since, seen_at from replica where name = ?',
  putName: `insert into replica (name, owner, since, seen_at) values (?, ?, ?, ?)
    on conflict (name) do update set owner = excluded.owner, since = excluded.since, seen_at = excluded.seen_at`,
  renewName: 'update replica set seen_at = ? where name = ? and owner = ?',
  releaseName: 'update replica set since = ?, seen_at = null where name = ? and owner = ?',
  forgetNames: `delete from replica where name >= '' and ifnull(seen_at, since) < ?`,
  endLeases: `update operation set lease_until = ?
    where ${active} and due_at > ? and due_at <= ? and state = 'running' and lease_owner = ?`,
  endChores: `update chore set lease_until = min(lease_until, ?)
    where name >= '' and owner = ? and finished_at is null`,
  // What waits for a lease of this owner.
  drainedFrom: `select old.id, old.fence from operation cross join operation as old on old.id = operation.drains
    where operation.${active} and operation.due_at > ? and operation.due_at <= ? and operation.state = 'queued'
      and old.lease_owner = ?`,

  putBulletin: `insert into bulletin (kind, key, at, until, doc) values (?, ?, ?, ?, ?)
    on conflict (kind, key) do update set at = excluded.at, until = excluded.until, doc = excluded.doc`,
  forgetBulletins: 'delete from bulletin where kind = ? and until <= ?',
  bulletins: 'select kind, key, at, doc from bulletin where kind = ? and until > ? order by key',

  // What is needed is looked at once more: spent_at only leads to what may go.
  spent: `select id, spent_at from operation where (binding_id is null) = ? and state = ? and spent_at <= ?
    and ifnull(lease_until, 0) <= ? and not ${needed} order by spent_at limit ?`,
  instanceTombstones: `select id, deleted_at from instance where deleted_at <= ? and ifnull(unclean_until, 0) <= ?
    and not exists (select 1 from binding where binding.instance_id = instance.id and binding.unclean_until > ?)
    and not exists (select 1 from operation where operation.instance_number = instance.number and ${active})
    order by deleted_at limit ?`,
  bindingTombstones: `select instance_id, id, deleted_at from binding
    where deleted_at <= ? and ifnull(unclean_until, 0) <= ?
    and not exists (select 1 from instance where instance.id = binding.instance_id and instance.phase = 'deleted')
    and not exists (select 1 from operation
      where operation.instance_number = (select number from instance where instance.id = binding.instance_id)
      and ifnull(operation.binding_id, '') = binding.id and ${active})
    order by deleted_at limit ?`,
  removeOperations: `delete from operation where ${ofInstance}`,
  removeBindings: 'delete from binding where instance_id = ?',
  removeClaims: 'delete from shared_claim where instance_id = ?',
  removeInstance: 'delete from instance where id = ?',
  removeBindingOperations: `delete from operation where ${ofInstance} and binding_id = ?`,
  removeBinding: 'delete from binding where instance_id = ? and id = ?',

  note: 'select kind, id, version, expires_at, doc from note where kind = ? and id = ?',
  notes:
    'select kind, id, version, expires_at, doc from note where kind = ? and id > ? and id >= ? and id < ? order by id limit ?',
  insertNote: `insert into note (kind, id, version, expires_at, doc) values (?, ?, 1, ?, ?) on conflict do nothing`,
  updateNote: `update note set version = version + 1, expires_at = ?, doc = ? where kind = ? and id = ? and version = ?`,
  deleteNote: 'delete from note where kind = ? and id = ? and version = ?',
  expiredNotes: 'select kind, id, version from note where expires_at <= ? order by expires_at limit ?',

  catalog: 'select version, changed_at, report from catalog where id = 1',
  raiseCatalog: 'update catalog set version = version + 1 where id = 1',
  reportCatalog: 'update catalog set changed_at = ?, report = ? where id = 1',
  revision: 'select id from revision where id = ?',
  // In the order of the file, which is the quickest.
  revisions: 'select doc from revision where rowid > 0',
  services: `select doc from service where id >= ''`,
  registries: `select doc from registry where name >= ''`,
  // A revision never changes.
  insertRevision: 'insert into revision (id, service_id, doc) values (?, ?, ?) on conflict (id) do nothing',
  // Changes no row where it says the same already.
  putService: `insert into service (id, revision_id, retired_at, doc) values (?, ?, ?, ?)
    on conflict (id) do update set revision_id = excluded.revision_id, retired_at = excluded.retired_at,
      doc = excluded.doc where service.doc <> excluded.doc`,
  putRegistry: `insert into registry (name, doc) values (?, ?) on conflict (name) do update set doc = excluded.doc`,
  deleteRegistry: 'delete from registry where name = ?',
  deleteService: `delete from service where id = ? and retired_at is not null
    and not exists (select 1 from revision r where r.service_id = service.id and ${used('r.id')})`,
  deleteRevision: `delete from revision where id = ? and not ${used('revision.id')}
    and not exists (select 1 from service s where s.revision_id = revision.id)`,
  // By the partial indexes alone: a comparison lets SQLite search them instead of walking all instances.
  uses: `select revision_id, pinned_plan, count(*) as instances from instance where revision_id > ''
    group by revision_id, pinned_plan`,
  nextUses: `select next_revision_id as revision_id, pinned_plan, count(*) as instances from instance
    where next_revision_id > '' and next_revision_id is not revision_id group by next_revision_id, pinned_plan`,
} as const

export type Statements = Readonly<Record<keyof typeof sql, Statement>>

/** What the methods of the store work with. */
export interface Calls {
  readonly statements: Statements
  readonly sealer: Sealer
  readonly clock: Clock
}

export function prepareAll(database: Database): Statements {
  return Object.fromEntries(Object.entries(sql).map(([name, text]) => [name, database.prepare(text)])) as Statements
}
