import { emptied } from '../sealing.ts'

/** What an operation belongs to, in the words of a clean-up; an index says the same. */
export const resourceKind = `(case when binding_id is null then 'instances' else 'bindings' end)`

/** The latest operation of a resource that lives: polls are answered from it. */
const latestOfLive = (schema: string, row: string) => `(exists (select 1 from ${schema}.instance i
        where ${row}.binding_id is null and i.id = ${row}.instance_id and i.last_operation_id = ${row}.id
          and i.phase <> 'deleted')
      or exists (select 1 from ${schema}.binding b
        where b.instance_id = ${row}.instance_id and b.id = ${row}.binding_id and b.last_operation_id = ${row}.id
          and b.phase <> 'deleted'))`

/**
 * The functions of the first schema that remove rows. An operation that has ended is `spent` when it is not, or no longer,
 * the latest one of a resource that lives: triggers see to that, so that a clean-up finds what may go in an index and
 * does not walk past what has to stay.
 */
export function upkeep(schema: string): string {
  const needed = (row: string) => latestOfLive(schema, row)

  return `
create function ${schema}.spend() returns trigger language plpgsql as $$
begin
  new.spent_at := case when ${needed('new')} then null else new.finished_at end;
  return new;
end $$;
create trigger operation_ended before insert or update of finished_at on ${schema}.operation
  for each row when (new.finished_at is not null) execute function ${schema}.spend();

create function ${schema}.spend_last() returns trigger language plpgsql as $$
begin
  update ${schema}.operation o set spent_at = o.finished_at
    where o.id = old.last_operation_id and o.spent_at is distinct from o.finished_at;
  return null;
end $$;
create trigger instance_went_on after update of last_operation_id, phase on ${schema}.instance for each row
  when (old.last_operation_id <> new.last_operation_id or new.phase = 'deleted')
  execute function ${schema}.spend_last();
create trigger binding_went_on after update of last_operation_id, phase on ${schema}.binding for each row
  when (old.last_operation_id <> new.last_operation_id or new.phase = 'deleted')
  execute function ${schema}.spend_last();

-- Waits for nobody: what is locked is left for another time. The locks are on operations that have ended, which nothing
-- makes active or the latest one again.
create function ${schema}.clean_up(p_of text, p_states text[], p_before double precision, p_max integer)
returns integer language plpgsql as $$
declare
  v_now double precision := ${schema}.now_ms();
  v_removed integer;
begin
  with spent as materialized (
    select o.id, o.spent_at from (select distinct unnest(p_states) as state) s cross join lateral (
      select o.id, o.spent_at from ${schema}.operation o
      where ${resourceKind.replace('binding_id', 'o.binding_id')} = p_of and o.state = s.state and o.spent_at <= p_before
        and coalesce(o.lease_until, 0) <= v_now and not ${needed('o')}
      order by o.spent_at limit p_max for update skip locked
    ) o order by o.spent_at limit p_max
  )
  delete from ${schema}.operation o using spent where o.id = spent.id;
  get diagnostics v_removed = row_count;
  return v_removed;
end $$;

${purgeFunction(schema, 'with history')}`
}

/** From schema 15 on the history stays: it has a time of its own. */
export function keepingPurge(schema: string): string {
  return purgeFunction(schema, 'without history')
}

function purgeFunction(schema: string, how: 'with history' | 'without history'): string {
  const active = `state in ('queued', 'running')`
  const verb = how === 'with history' ? 'create function' : 'create or replace function'
  const removed =
    how === 'with history' ? `      delete from ${schema}.history h where h.instance_id = r.instance_id;\n` : ''

  /** Nobody is at work on the instance, and no call of somebody who was can still land. */
  const deadInstance = `i.deleted_at <= p_before and coalesce(i.unclean_until, 0) <= v_now
    and not exists (select 1 from ${schema}.binding x where x.instance_id = i.id and x.unclean_until > v_now)
    and not exists (select 1 from ${schema}.operation x where x.instance_id = i.id and x.${active})`

  const deadBinding = `b.deleted_at <= p_before and coalesce(b.unclean_until, 0) <= v_now
    and not exists (select 1 from ${schema}.instance x where x.id = b.instance_id and x.phase = 'deleted')
    and not exists (select 1 from ${schema}.operation x
      where x.instance_id = b.instance_id and coalesce(x.binding_id, '') = b.id and x.${active})`

  return `-- Each instance is locked before anything of it is looked at for good: an accept that was first has changed it, and one
-- that comes later finds that its snapshot is old. What somebody else holds is left for another time, so that two of
-- these never wait for each other.
--
-- A claim that is left only says that a deletion forgot to release it. The rows of shared resources stay as they are, so
-- nothing goes that a neighbour claims, and what nobody claims any more goes with the next one that acquires and releases.
${verb} ${schema}.purge(p_before double precision, p_max integer) returns integer language plpgsql as $$
declare
  v_now double precision := ${schema}.now_ms();
  v_removed integer := 0;
  r record;
begin
  for r in
    select * from (
      (select i.id as instance_id, null as binding_id, i.deleted_at from ${schema}.instance i
        where ${deadInstance} order by i.deleted_at limit p_max)
      union all
      (select b.instance_id, b.id, b.deleted_at from ${schema}.binding b
        where ${deadBinding} order by b.deleted_at limit p_max)
    ) dead order by dead.deleted_at limit p_max
  loop
    perform 1 from ${schema}.instance i where i.id = r.instance_id for update skip locked;
    continue when not found;
    if r.binding_id is null then
      perform 1 from ${schema}.instance i where i.id = r.instance_id and ${deadInstance};
      continue when not found;
      delete from ${schema}.operation o where o.instance_id = r.instance_id;
      delete from ${schema}.binding b where b.instance_id = r.instance_id;
${removed}      delete from ${schema}.shared_claim c where c.instance_id = r.instance_id;
      delete from ${schema}.instance i where i.id = r.instance_id;
    else
      perform 1 from ${schema}.binding b where b.instance_id = r.instance_id and b.id = r.binding_id and ${deadBinding};
      continue when not found;
      delete from ${schema}.operation o where o.instance_id = r.instance_id and o.binding_id = r.binding_id;
      delete from ${schema}.binding b where b.instance_id = r.instance_id and b.id = r.binding_id;
    end if;
    v_removed := v_removed + 1;
  end loop;
  return v_removed;
end $$;
`
}

/**
 * From the tenth schema on, what operations have kept goes with what they were about, in the transaction that deletes it, also
 * where a replica of an older release does it: all that has ended by then, and what ends with it or later. What is active may
 * still need it, as a sweep does.
 *
 * An operation is locked before its steps, as in a clean-up. One that is being handed back is waited for; where that waits for the
 * operation that took over, and this is what ends it, the server ends the deadlock and the store asks again.
 */
export function emptying(schema: string): string {
  return `
create or replace function ${schema}.spend() returns trigger language plpgsql as $$
begin
  new.spent_at := case when ${latestOfLive(schema, 'new')} then null else new.finished_at end;
  if exists (select 1 from ${schema}.instance i where i.id = new.instance_id and i.phase = 'deleted')
      or exists (select 1 from ${schema}.binding b
        where b.instance_id = new.instance_id and b.id = new.binding_id and b.phase = 'deleted') then
    new.sealed := '${emptied.operation}';
    update ${schema}.step s set sealed = '${emptied.step}'
      where s.operation_id = new.id and s.sealed <> '${emptied.step}';
  end if;
  return new;
end $$;

create or replace function ${schema}.spend_last() returns trigger language plpgsql as $$
declare
  v_instance text;
  v_binding text;
  v_ended text[];
begin
  update ${schema}.operation o set spent_at = o.finished_at
    where o.id = old.last_operation_id and o.spent_at is distinct from o.finished_at;
  if new.phase <> 'deleted' then
    return null;
  end if;
  if tg_table_name = 'instance' then
    v_instance := new.id;
  else
    v_instance := new.instance_id;
    v_binding := new.id;
  end if;
  v_ended := array(select o.id from ${schema}.operation o
    where o.instance_id = v_instance and (v_binding is null or o.binding_id = v_binding) and o.finished_at is not null
    order by o.id for no key update);
  update ${schema}.operation o set sealed = '${emptied.operation}'
    where o.id = any (v_ended) and o.sealed <> '${emptied.operation}';
  update ${schema}.step s set sealed = '${emptied.step}'
    where s.operation_id = any (v_ended) and s.sealed <> '${emptied.step}';
  return null;
end $$;
`
}
