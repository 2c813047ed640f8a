import { emptied } from '../sealing.ts'
import { keyedWrites } from './batch-functions.ts'
import { keyedWrite } from './functions.ts'

/**
 * Schema 18: what a write costs. Columns that were generated from documents, by patterns, were generated anew with each write
 * of the row, five times in an operation's first seconds: now they are written with the document, and a trigger generates what a
 * replica of an older release, or an import of one, leaves out. What operators did by hand is rare: a trigger goes on to generate it.
 *
 * Steps go with their operation as before, by one statement for all that are deleted. A foreign key looked for the operation of
 * each step, and locked it: those that write steps have locked it before, in the same transaction.
 */
export function writtenSchema(schema: string): string {
  const plain = (column: string) => `alter column ${column} drop expression`
  const named = (name: string) => `md5(substring(new.doc from ',${name}:("(?:[^"\\\\]|\\\\.)*")'))`
  return `
alter table ${schema}.operation ${['service_key', 'plan_key', 'platform_key', 'failed_step', 'fingerprint'].map(plain).join(', ')};
create function ${schema}.name_operation() returns trigger language plpgsql as $$
begin
  new.service_key := coalesce(new.service_key, ${named('"serviceId"')});
  new.plan_key := coalesce(new.plan_key, ${named('"planId"')});
  new.platform_key := coalesce(new.platform_key, ${named('"platform"')});
  new.failed_step := coalesce(new.failed_step, ${named('"error":\\{.*"step"')});
  new.fingerprint := coalesce(new.fingerprint,
    substring(new.doc from ',"error":\\{.*"fingerprint":"([0-9a-f]+)"'));
  return new;
end $$;
create trigger operation_named before insert or update of doc on ${schema}.operation for each row
  when (new.service_key is null or (new.state = 'failed' and new.fingerprint is null))
  execute function ${schema}.name_operation();

alter table ${schema}.history ${['acted_at', 'acted_by', 'acted_verb'].map(plain).join(', ')};
create function ${schema}.name_act() returns trigger language plpgsql as $$
begin
  if substring(new.doc from '"type":"([a-z]+)"') = 'acted' then
    new.acted_at := substring(new.doc from '"at":([0-9]+)')::double precision;
    new.acted_by := md5(substring(new.doc from '"by":("(?:[^"\\\\]|\\\\.)*")'));
    new.acted_verb := substring(new.doc from '"verb":"([a-z-]+)"');
  end if;
  return new;
end $$;
create trigger history_acted before insert or update of doc on ${schema}.history for each row
  when (new.doc like '%"type":"acted"%') execute function ${schema}.name_act();

alter table ${schema}.step drop constraint step_operation_id_fkey;
create function ${schema}.drop_steps() returns trigger language plpgsql as $$
begin
  delete from ${schema}.step s using gone where s.operation_id = gone.id;
  return null;
end $$;
create trigger operation_gone after delete on ${schema}.operation referencing old table as gone
  for each statement execute function ${schema}.drop_steps();

${oneLookAtTheEnd(schema)}
${keyedWrite(schema)}
${keyedWrites(schema)}`
}

/** As in the tenth schema, with one look at what the operation belongs to. */
function oneLookAtTheEnd(schema: string): string {
  return `create or replace function ${schema}.spend() returns trigger language plpgsql as $$
declare
  v_phase text;
  v_last text;
  v_gone boolean;
begin
  if new.binding_id is null then
    select i.phase, i.last_operation_id, i.phase = 'deleted' into v_phase, v_last, v_gone
      from ${schema}.instance i where i.id = new.instance_id;
  else
    select b.phase, b.last_operation_id, i.phase = 'deleted' or b.phase is not distinct from 'deleted'
      into v_phase, v_last, v_gone
      from ${schema}.instance i left join ${schema}.binding b on b.instance_id = i.id and b.id = new.binding_id
      where i.id = new.instance_id;
  end if;
  new.spent_at := case when v_last = new.id and v_phase <> 'deleted' then null else new.finished_at end;
  if v_gone then
    new.sealed := '${emptied.operation}';
    update ${schema}.step s set sealed = '${emptied.step}'
      where s.operation_id = new.id and s.sealed <> '${emptied.step}';
  end if;
  return new;
end $$;
`
}
