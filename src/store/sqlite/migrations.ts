import type { Database } from './driver.ts'
import { SqliteOpenError } from './errors.ts'

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
]

/** Says in the file's header whose database it is ("Purs"). */
const applicationId = 0x50757273

/** Brings the database to the newest version, one transaction for each step. */
export function migrate(database: Database): void {
  const version = pragma(database, 'user_version')
  for (const [index, sql] of migrations.entries()) {
    if (index < version) continue
    database.exec(
      `begin immediate; ${sql} pragma application_id = ${applicationId}; pragma user_version = ${index + 1}; commit`,
    )
  }
}

/** Refuses what another program, or a newer release of this one, has written. Changes nothing. */
export function checkVersion(database: Database, file: string): void {
  const owner = pragma(database, 'application_id')
  const tables = Number(database.prepare('select count(*) as count from sqlite_schema').get()?.count)
  if (owner !== applicationId && (owner !== 0 || tables > 0)) {
    throw new SqliteOpenError('foreign-database', `${file} is the database of another program: name another file`)
  }
  const version = pragma(database, 'user_version')
  if (version <= migrations.length) return
  throw new SqliteOpenError(
    'newer-version',
    `${file} was written by a newer release (its schema is ${version}, this release knows ${migrations.length}): ` +
      'start that release, or put back the backup made before the upgrade',
  )
}

function pragma(database: Database, name: string): number {
  return Number(database.prepare(`pragma ${name}`).get()?.[name])
}
