import { createHash } from 'node:crypto'

/**
 * The eleventh schema: what operators look at. Bulletins, what they did by hand, and indexes that instances and bindings are
 * counted by. What is generated comes from the document, in which an older release writes it as well: by patterns, since
 * PostgreSQL cannot read a JSON that has a NUL anywhere. What comes from outside stands behind our own keys, or escaped. Who
 * did it is known by a hash of its JSON, which may be long.
 */
export function operatorSchema(schema: string): string {
  const acted = (value: string) =>
    `generated always as (case substring(doc from '"type":"([a-z]+)"') when 'acted' then ${value} end) stored`
  return `
create table ${schema}.bulletin (
  kind text collate "C" not null,
  key text collate "C" not null,
  at double precision not null,
  until double precision not null,
  doc text not null,
  primary key (kind, key)
);

alter table ${schema}.history
  add column acted_at double precision ${acted(`substring(doc from '"at":([0-9]+)')::double precision`)},
  add column acted_by text collate "C" ${acted(`md5(substring(doc from '"by":("(?:[^"\\\\]|\\\\.)*")'))`)},
  add column acted_verb text collate "C" ${acted(`substring(doc from '"verb":"([a-z-]+)"')`)};
create index history_acted on ${schema}.history (acted_at, seq) where acted_at is not null;
create index history_acted_by on ${schema}.history (acted_by, acted_at, seq) where acted_at is not null;
create index history_acted_verb on ${schema}.history (acted_verb, acted_at, seq) where acted_at is not null;

create index instance_survey on ${schema}.instance (service_id, plan_id, phase, usable, id) where deleted_at is null;
create index binding_survey on ${schema}.binding (service_id, phase) where deleted_at is null;
`
}

/** What a generated column has for a name. */
export function generatedKey(name: string): string {
  return createHash('md5').update(JSON.stringify(name)).digest('hex')
}

/**
 * The fourteenth schema: more that lists go by. Of operations, only those that have ended are in these indexes: while it runs,
 * an operation is written many times, and those that are active are few.
 */
export function moreListSchema(schema: string): string {
  const key = (name: string) =>
    `generated always as (md5(substring(doc from ',${name}:("(?:[^"\\\\]|\\\\.)*")'))) stored`
  const ended = 'where finished_at is not null'
  return `
alter table ${schema}.operation
  add column service_key text collate "C" ${key('"serviceId"')},
  add column plan_key text collate "C" ${key('"planId"')},
  add column platform_key text collate "C" ${key('"platform"')},
  add column failed_step text collate "C" ${key('"error":\\{.*"step"')},
  add column fingerprint text collate "C"
    generated always as (substring(doc from ',"error":\\{.*"fingerprint":"([0-9a-f]+)"')) stored;
create index operation_list_service on ${schema}.operation (service_key, accepted_at, id) ${ended};
create index operation_list_plan on ${schema}.operation (plan_key, accepted_at, id) ${ended};
create index operation_list_platform on ${schema}.operation (platform_key, accepted_at, id) ${ended};
create index operation_list_action on ${schema}.operation (action, accepted_at, id) ${ended};
create index operation_list_step on ${schema}.operation (failed_step, accepted_at, id) where state = 'failed';
create index operation_list_error on ${schema}.operation (fingerprint, accepted_at, id) where state = 'failed';
create index operation_list_failed_finished on ${schema}.operation (state, finished_at, id)
  where state in ('failed', 'superseded');

create index instance_list_plan on ${schema}.instance (plan_id, created_at, id) where deleted_at is null;
create index instance_list_platform on ${schema}.instance (platform, created_at, id) where deleted_at is null;
create index instance_list_unusable on ${schema}.instance (created_at, id) where deleted_at is null and not usable;
create index binding_list_plan on ${schema}.binding (plan_id, created_at, instance_id, id) where deleted_at is null;
`
}
