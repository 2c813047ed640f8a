import { StoreOpenError } from '../../store.ts'
import type { Database } from './driver.ts'
import { numberedInstances } from './numbered-instances.ts'

/**
 * Each brings a database from the version before it to the next; a published one is never changed. `doc` is a row as JSON
 * without what has a column of its own and without what is sealed.
 */
export const migrations: readonly string[] = [
  `
  create table instance (
    id text not null primary key,
    observe_at integer,
    doc text not null,
    sealed text not null
  );
  create index instance_observe on instance (observe_at) where observe_at is not null;

  create table binding (
    instance_id text not null references instance (id),
    id text not null,
    phase text not null,
    doc text not null,
    sealed text not null,
    primary key (instance_id, id)
  );
  create index binding_by_phase on binding (instance_id, phase);

  create table operation (
    id text not null primary key,
    instance_id text not null references instance (id),
    binding_id text,
    state text not null,
    attempt integer not null,
    losses integer not null,
    not_before integer not null,
    lease_owner text,
    lease_until integer,
    fence integer not null,
    drains text,
    unclean integer not null,
    checkpoint_at integer,
    description text,
    doc text not null,
    sealed text not null,
    due_at integer generated always as (
      case state when 'queued' then not_before when 'running' then ifnull(lease_until, 0) end
    ) virtual
  );
  create unique index operation_one_active on operation (instance_id, ifnull(binding_id, ''))
    where state in ('queued', 'running');
  create index operation_due on operation (due_at) where state in ('queued', 'running');
  create index operation_drains on operation (drains) where drains is not null;

  create table step (
    operation_id text not null references operation (id) on delete cascade,
    name text not null,
    state text not null,
    doc text not null,
    sealed text not null,
    primary key (operation_id, name)
  );

  create table history (
    seq integer primary key autoincrement,
    instance_id text not null,
    doc text not null
  );
  create index history_by_instance on history (instance_id);

  create table shared_resource (
    key text not null primary key,
    phase text not null,
    holder text
  );
  create table shared_claim (
    resource_key text not null,
    instance_id text not null,
    primary key (resource_key, instance_id)
  ) without rowid;

  create table counter (
    name text not null primary key,
    value integer not null
  ) without rowid;
  insert into counter (name, value) values ('fence', 0);
  `,
  // spent_at is the end of an operation that nobody needs any more: it is not the latest one of a resource that lives. The
  // triggers set it for the one that was the latest, so that a clean-up finds what it may remove and nothing else.
  `
  alter table instance add column phase text not null default '';
  alter table instance add column last_operation_id text not null default '';
  alter table instance add column unclean_until integer;
  alter table instance add column deleted_at integer;
  update instance set phase = json_extract(doc, '$.phase'), last_operation_id = json_extract(doc, '$.lastOperationId'),
    unclean_until = json_extract(doc, '$.uncleanUntil'),
    deleted_at = case json_extract(doc, '$.phase') when 'deleted' then json_extract(doc, '$.deletedAt') end;
  create index instance_deleted on instance (deleted_at) where deleted_at is not null;

  alter table binding add column last_operation_id text not null default '';
  alter table binding add column unclean_until integer;
  alter table binding add column deleted_at integer;
  update binding set last_operation_id = json_extract(doc, '$.lastOperationId'),
    unclean_until = json_extract(doc, '$.uncleanUntil'),
    deleted_at = case phase when 'deleted' then json_extract(doc, '$.deletedAt') end;
  create index binding_deleted on binding (deleted_at) where deleted_at is not null;

  alter table operation add column finished_at integer;
  alter table operation add column spent_at integer;
  update operation set finished_at = json_extract(doc, '$.finishedAt') where state not in ('queued', 'running');
  update operation set spent_at = finished_at where finished_at is not null
    and not exists (select 1 from instance i where operation.binding_id is null and i.id = operation.instance_id
      and i.last_operation_id = operation.id and i.phase <> 'deleted')
    and not exists (select 1 from binding b where b.instance_id = operation.instance_id
      and b.id = operation.binding_id and b.last_operation_id = operation.id and b.phase <> 'deleted');
  create index operation_spent on operation ((binding_id is null), state, spent_at) where spent_at is not null;
  create index operation_by_instance on operation (instance_id, binding_id);

  create trigger instance_went_on after update of last_operation_id, phase on instance
    when old.last_operation_id <> new.last_operation_id or new.phase = 'deleted'
  begin
    update operation set spent_at = finished_at where id = old.last_operation_id and spent_at is not finished_at;
  end;
  create trigger binding_went_on after update of last_operation_id, phase on binding
    when old.last_operation_id <> new.last_operation_id or new.phase = 'deleted'
  begin
    update operation set spent_at = finished_at where id = old.last_operation_id and spent_at is not finished_at;
  end;

  create index shared_claim_by_instance on shared_claim (instance_id);

  create table chore (
    name text not null primary key,
    due_at integer not null,
    owner text not null,
    started_at integer not null,
    fence integer not null,
    lease_until integer,
    finished_at integer,
    result text
  ) without rowid;
  `,
  // What came from registries. An instance names the revisions that it needs, and its plan where it needs one: what is used
  // is found, and counted, by an index of those that need something. Plans are JSON texts, since their ids come from outside.
  `
  create table revision (
    id text not null primary key,
    service_id text not null,
    doc text not null
  );
  create index revision_by_service on revision (service_id);

  create table service (
    id text not null primary key,
    revision_id text not null references revision (id),
    retired_at integer,
    doc text not null
  ) without rowid;
  create index service_by_revision on service (revision_id);

  create table registry (
    name text not null primary key,
    doc text not null
  ) without rowid;

  create table catalog (
    id integer not null primary key check (id = 1),
    version integer not null,
    changed_at integer,
    report text
  );
  insert into catalog (id, version) values (1, 0);

  alter table instance add column revision_id text;
  alter table instance add column next_revision_id text;
  alter table instance add column pinned_plan text;
  create index instance_revision on instance (revision_id, pinned_plan) where revision_id is not null;
  create index instance_next_revision on instance (next_revision_id, pinned_plan, revision_id)
    where next_revision_id is not null;
  `,
  // Lists: what they filter and sort by has columns, and each list an index that has its order. Partial indexes, since most
  // rows are ready: those that are not are few, and a deleted one shows only to those who ask for it.
  `
  alter table instance add column created_at integer not null default 0;
  alter table instance add column platform text not null default '';
  alter table instance add column service_id text not null default '';
  alter table instance add column plan_id text not null default '';
  alter table instance add column usable integer not null default 1;
  update instance set created_at = json_extract(doc, '$.createdAt'), platform = json_extract(doc, '$.platform'),
    service_id = json_extract(doc, '$.serviceId'), plan_id = json_extract(doc, '$.planId'),
    usable = json_extract(doc, '$.usable');
  create index instance_list on instance (created_at, id) where deleted_at is null;
  create index instance_list_service on instance (service_id, created_at, id) where deleted_at is null;
  create index instance_list_phase on instance (phase, created_at, id) where phase <> 'ready';
  drop index instance_revision;
  create index instance_revision on instance (revision_id, created_at, id, pinned_plan) where revision_id is not null;

  alter table binding add column created_at integer not null default 0;
  alter table binding add column service_id text not null default '';
  alter table binding add column plan_id text not null default '';
  update binding set created_at = json_extract(doc, '$.createdAt'), service_id = json_extract(doc, '$.serviceId'),
    plan_id = json_extract(doc, '$.planId');
  create index binding_list on binding (created_at, instance_id, id) where deleted_at is null;
  create index binding_list_service on binding (service_id, created_at, instance_id, id) where deleted_at is null;
  create index binding_list_phase on binding (phase, created_at, instance_id, id) where phase <> 'ready';

  alter table operation add column accepted_at integer not null default 0;
  alter table operation add column action text not null default '';
  update operation set accepted_at = json_extract(doc, '$.acceptedAt'), action = json_extract(doc, '$.action');
  create index operation_list on operation (accepted_at, id);
  create index operation_list_failed on operation (state, accepted_at, id) where state in ('failed', 'superseded');
  create index operation_list_finished on operation (finished_at, id) where finished_at is not null;
  drop index operation_by_instance;
  create index operation_by_instance on operation (instance_id, accepted_at, id);
  `,
  // The names that processes are started under.
  `
  create table replica (
    name text not null primary key,
    owner text not null,
    since integer not null,
    seen_at integer
  ) without rowid;
  `,
  // What the operators' API has to remember.
  `
  create table note (
    kind text not null,
    id text not null,
    version integer not null,
    expires_at integer,
    doc text not null,
    primary key (kind, id)
  ) without rowid;
  create index note_expires on note (expires_at) where expires_at is not null;
  `,
  // What operators look at: bulletins, what they did by hand, and an index that instances and bindings are counted by.
  `
  create table bulletin (
    kind text not null,
    key text not null,
    at integer not null,
    until integer not null,
    doc text not null,
    primary key (kind, key)
  ) without rowid;

  alter table history add column acted_at integer
    generated always as (case json_extract(doc, '$.type') when 'acted' then json_extract(doc, '$.at') end) virtual;
  alter table history add column acted_by text
    generated always as (case json_extract(doc, '$.type') when 'acted' then json_extract(doc, '$.by') end) virtual;
  alter table history add column acted_verb text
    generated always as (case json_extract(doc, '$.type') when 'acted' then json_extract(doc, '$.verb') end) virtual;
  create index history_acted on history (acted_at, seq) where acted_at is not null;
  create index history_acted_by on history (acted_by, acted_at, seq) where acted_at is not null;
  create index history_acted_verb on history (acted_verb, acted_at, seq) where acted_at is not null;

  create index instance_survey on instance (service_id, plan_id, phase, usable, id) where deleted_at is null;
  create index binding_survey on binding (service_id, phase) where deleted_at is null;
  `,
  // More that lists go by. Of operations, only those that have ended are in these indexes: while it runs, an operation is
  // written many times, and those that are active are few.
  `
  alter table operation add column service_key text generated always as (json_extract(doc, '$.serviceId')) virtual;
  alter table operation add column plan_key text generated always as (json_extract(doc, '$.planId')) virtual;
  alter table operation add column platform_key text generated always as (json_extract(doc, '$.platform')) virtual;
  alter table operation add column failed_step text generated always as (json_extract(doc, '$.error.step')) virtual;
  alter table operation add column fingerprint text generated always as (json_extract(doc, '$.error.fingerprint')) virtual;
  create index operation_list_service on operation (service_key, accepted_at, id) where finished_at is not null;
  create index operation_list_plan on operation (plan_key, accepted_at, id) where finished_at is not null;
  create index operation_list_platform on operation (platform_key, accepted_at, id) where finished_at is not null;
  create index operation_list_action on operation (action, accepted_at, id) where finished_at is not null;
  create index operation_list_step on operation (failed_step, accepted_at, id) where state = 'failed';
  create index operation_list_error on operation (fingerprint, accepted_at, id) where state = 'failed';
  create index operation_list_failed_finished on operation (state, finished_at, id)
    where state in ('failed', 'superseded');

  create index instance_list_plan on instance (plan_id, created_at, id) where deleted_at is null;
  create index instance_list_platform on instance (platform, created_at, id) where deleted_at is null;
  create index instance_list_unusable on instance (created_at, id) where deleted_at is null and not usable;
  create index binding_list_plan on binding (plan_id, created_at, instance_id, id) where deleted_at is null;
  `,
  // The chain of the history, which outlives the instances that it is about.
  `
  alter table history add column chain_no integer;
  alter table history add column chain_hash text;
  create index history_chain on history (chain_no, seq);
  `,
  // Bindings that expire, and when the chore has to look at each of them.
  `
  alter table binding add column expires_at integer;
  alter table binding add column notice_at integer;
  update binding set expires_at = json_extract(doc, '$.expiresAt'),
    notice_at = case phase when 'deleted' then null else json_extract(doc, '$.expiresAt') end
    where json_extract(doc, '$.expiresAt') is not null;
  create index binding_list_expires on binding (expires_at, instance_id, id)
    where deleted_at is null and expires_at is not null;
  create index binding_notice on binding (notice_at) where deleted_at is null and notice_at is not null;
  `,
  numberedInstances,
]

/** Says in the file's header whose database it is ("Purs"). */
const applicationId = 0x50757273

/**
 * Brings the database to the newest version, one transaction for each step. Foreign keys are off meanwhile: where a table is made
 * anew, nothing that refers to it is to go with the old one.
 */
export function migrate(database: Database): void {
  const version = pragma(database, 'user_version')
  database.exec('pragma foreign_keys = off')
  for (const [index, sql] of migrations.entries()) {
    if (index < version) continue
    database.exec(
      `begin immediate; ${sql} pragma application_id = ${applicationId}; pragma user_version = ${index + 1}; commit`,
    )
  }
  database.exec('pragma foreign_keys = on')
}

/** Refuses what another program, or a newer release of this one, has written. Changes nothing. */
export function checkVersion(database: Database, file: string): void {
  const owner = pragma(database, 'application_id')
  const tables = Number(database.prepare('select count(*) as count from sqlite_schema').get()?.count)
  judgeHeader(file, { owner, version: pragma(database, 'user_version'), isEmpty: tables === 0 })
}

/** What a file says about itself. */
interface Header {
  readonly owner: number
  readonly version: number
  readonly isEmpty: boolean
}

/** Throws where the file is not one that this release can open. */
export function judgeHeader(file: string, { owner, version, isEmpty }: Header): void {
  if (owner !== applicationId && (owner !== 0 || !isEmpty)) {
    throw new StoreOpenError('foreign-database', `${file} is the database of another program: name another file`)
  }
  if (version <= migrations.length) return
  throw new StoreOpenError(
    'newer-version',
    `${file} was written by a newer release (its schema is ${version}, this release knows ${migrations.length}): ` +
      'start that release, or put back the backup made before the upgrade',
  )
}

function pragma(database: Database, name: string): number {
  return Number(database.prepare(`pragma ${name}`).get()?.[name])
}
