import { batchFunctions, leasingWrites } from './batch-functions.ts'
import { catalogSchema } from './catalog-schema.ts'
import { chainSchema } from './chain.ts'
import { expirySchema } from './expiry-schema.ts'
import { completingWrite, functions, leasingWrite, listedWrite, pinningWrite } from './functions.ts'
import { listSchema } from './list-schema.ts'
import { sweptLook } from './look-functions.ts'
import { importSchema } from './moving.ts'
import { nameSchema } from './names.ts'
import { noteSchema } from './notes.ts'
import { olderReleases } from './older-releases.ts'
import { moreListSchema, operatorSchema } from './operator-schema.ts'
import { quotaSchema } from './quota.ts'
import { serverSchema } from './server-schema.ts'
import { emptying, keepingPurge, resourceKind, upkeep } from './upkeep-functions.ts'
import { writtenSchema } from './written-schema.ts'

/**
 * Each brings a schema from the version before it to the next; a published one is never changed. `schema` comes quoted.
 *
 * `doc` is a row as JSON without what has a column that changes and without what is sealed. It is text: a jsonb cannot hold
 * every text that JSON can, and would sort the keys. Ids are keys (see keys.ts), in the collation "C", which no upgrade of
 * the operating system can change under an index. Times are the numbers that JavaScript has. `seq` is the order in which
 * rows came. Pages are left half empty where rows are updated soon after they came: a new version that finds room beside the
 * old one costs no index an entry, and an operation has five of them in its first seconds. `spent_at` is the end of an
 * operation that nobody needs any more: see upkeep-functions.ts.
 */
export const migrations: readonly ((schema: string) => string)[] = [
  schema => `
create table ${schema}.migration (
  number integer primary key,
  applied_at timestamptz not null default now()
);

create sequence ${schema}.fence;

create table ${schema}.instance (
  id text collate "C" primary key,
  seq bigint generated always as identity,
  observe_at double precision,
  phase text not null,
  last_operation_id text collate "C" not null,
  unclean_until double precision,
  deleted_at double precision,
  doc text not null,
  sealed text not null,
  sealed_state text not null
) with (fillfactor = 70);
create index instance_observe on ${schema}.instance (observe_at, seq) where observe_at is not null;
create index instance_deleted on ${schema}.instance (deleted_at) where deleted_at is not null;

create table ${schema}.binding (
  instance_id text collate "C" not null references ${schema}.instance (id),
  id text collate "C" not null,
  seq bigint generated always as identity,
  phase text not null,
  last_operation_id text collate "C" not null,
  unclean_until double precision,
  deleted_at double precision,
  predecessor_id text collate "C",
  doc text not null,
  sealed text not null,
  sealed_state text not null,
  primary key (instance_id, id)
);
create index binding_by_phase on ${schema}.binding (instance_id, phase);
create index binding_deleted on ${schema}.binding (deleted_at) where deleted_at is not null;

create table ${schema}.operation (
  id text collate "C" primary key,
  instance_id text collate "C" not null references ${schema}.instance (id),
  binding_id text collate "C",
  seq bigint generated always as identity,
  state text not null,
  attempt integer not null,
  losses integer not null,
  not_before double precision not null,
  lease_owner text,
  lease_until double precision,
  fence bigint not null,
  drains text collate "C",
  unclean boolean not null,
  checkpoint_at double precision,
  description text,
  finished_at double precision,
  spent_at double precision,
  doc text not null,
  sealed text not null,
  due_at double precision generated always as (
    case state when 'queued' then not_before when 'running' then coalesce(lease_until, 0) end
  ) stored
) with (fillfactor = 50);
create unique index operation_one_active on ${schema}.operation (instance_id, coalesce(binding_id, ''))
  where state in ('queued', 'running');
create index operation_due on ${schema}.operation (due_at, seq) where state in ('queued', 'running');
create index operation_drains on ${schema}.operation (drains) where drains is not null;
create index operation_spent on ${schema}.operation (${resourceKind}, state, spent_at) where spent_at is not null;
create index operation_by_instance on ${schema}.operation (instance_id, binding_id);

create table ${schema}.step (
  operation_id text collate "C" not null references ${schema}.operation (id) on delete cascade,
  name text collate "C" not null,
  seq bigint generated always as identity,
  state text not null,
  doc text not null,
  sealed text not null,
  primary key (operation_id, name)
);

create table ${schema}.history (
  seq bigint generated always as identity primary key,
  instance_id text collate "C" not null,
  doc text not null
);
create index history_by_instance on ${schema}.history (instance_id, seq);

create table ${schema}.shared_resource (
  key text collate "C" primary key,
  phase text not null,
  holder text collate "C"
);
create table ${schema}.shared_claim (
  resource_key text collate "C" not null,
  instance_id text collate "C" not null,
  primary key (resource_key, instance_id)
);
create index shared_claim_by_instance on ${schema}.shared_claim (instance_id);

create table ${schema}.chore (
  name text collate "C" primary key,
  due_at double precision not null,
  owner text not null,
  started_at double precision not null,
  fence bigint not null,
  lease_until double precision,
  finished_at double precision,
  result text
);
${functions(schema)}${upkeep(schema)}`,
  schema => `${catalogSchema(schema)}
${pinningWrite(schema)}`,
  schema => `${listSchema(schema)}
${listedWrite(schema)}`,
  sweptLook,
  nameSchema,
  serverSchema,
  schema => `${olderReleases(schema)}
${completingWrite(schema)}`,
  batchFunctions,
  schema => `${leasingWrite(schema)}
${leasingWrites(schema)}`,
  emptying,
  noteSchema,
  operatorSchema,
  importSchema,
  moreListSchema,
  schema => `${chainSchema(schema)}
${keepingPurge(schema)}`,
  quotaSchema,
  expirySchema,
  writtenSchema,
]
