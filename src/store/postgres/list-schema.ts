/**
 * The third schema: what lists filter and sort by has columns, and each list an index that has its order. Some are partial,
 * since most rows are ready: those that are not are few, and a deleted one shows only to those who ask for it.
 */
export function listSchema(schema: string): string {
  return `
alter table ${schema}.instance
  add column created_at double precision not null default 0,
  add column platform text collate "C" not null default '',
  add column service_id text collate "C" not null default '',
  add column plan_id text collate "C" not null default '',
  add column usable boolean not null default true;
update ${schema}.instance set created_at = (doc::json ->> 'createdAt')::double precision,
  platform = doc::json ->> 'platform', service_id = doc::json ->> 'serviceId', plan_id = doc::json ->> 'planId',
  usable = (doc::json ->> 'usable')::boolean;
create index instance_list on ${schema}.instance (created_at, id) where deleted_at is null;
create index instance_list_service on ${schema}.instance (service_id, created_at, id) where deleted_at is null;
create index instance_list_phase on ${schema}.instance (phase, created_at, id) where phase <> 'ready';
drop index ${schema}.instance_by_revision;
create index instance_by_revision on ${schema}.instance (revision_id, created_at, id, pinned_plan)
  where revision_id is not null;

alter table ${schema}.binding
  add column created_at double precision not null default 0,
  add column service_id text collate "C" not null default '',
  add column plan_id text collate "C" not null default '';
update ${schema}.binding set created_at = (doc::json ->> 'createdAt')::double precision,
  service_id = doc::json ->> 'serviceId', plan_id = doc::json ->> 'planId';
create index binding_list on ${schema}.binding (created_at, instance_id, id) where deleted_at is null;
create index binding_list_service on ${schema}.binding (service_id, created_at, instance_id, id)
  where deleted_at is null;
create index binding_list_phase on ${schema}.binding (phase, created_at, instance_id, id) where phase <> 'ready';

alter table ${schema}.operation
  add column accepted_at double precision not null default 0,
  add column action text not null default '';
update ${schema}.operation set accepted_at = (doc::json ->> 'acceptedAt')::double precision,
  action = doc::json ->> 'action';
create index operation_list on ${schema}.operation (accepted_at, id);
create index operation_list_failed on ${schema}.operation (state, accepted_at, id)
  where state in ('failed', 'superseded');
create index operation_list_finished on ${schema}.operation (finished_at, id) where finished_at is not null;
drop index ${schema}.operation_by_instance;
create index operation_by_instance on ${schema}.operation (instance_id, accepted_at, id);
`
}
