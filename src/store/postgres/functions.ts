import { active, looking, snapshot } from './look-functions.ts'
import { completeOlder } from './older-releases.ts'

/** How old the time of a decision may be when it is written: long enough for a busy process, and harmless to deadlines. */
export const staleAfterMs = 2_000

/**
 * The functions of the first schema. A method of the store that writes is one call of one of them: one statement, one
 * transaction, one round trip; no lock outlives it, and no connection is lost in the middle of an open transaction.
 *
 * They are PL/pgSQL because its statements each see what was committed while the one before waited for a lock, and because
 * their plans are kept. Locks are taken instance -> operation (by id, where there are several) -> step and binding.
 */
export function functions(schema: string): string {
  const { look, versionOf } = looking(schema, 'create function', 'count(*)::integer')

  /** The guard of every write of a worker. */
  const held = `o.id = p_operation and o.fence = p_fence and o.state = 'running'`

  return `
-- The store's clock: every time in the ledger that is compared with another one comes from here.
create function ${schema}.now_ms() returns double precision language sql volatile as $$
  select floor(extract(epoch from clock_timestamp()) * 1000)::double precision
$$;

${look}
-- What the end of a held operation is decided from; no row where the lease is lost.
create function ${schema}.look_held(p_operation text, p_fence bigint) returns table (${snapshot})
language plpgsql as $$
declare
  v_instance text;
  v_binding text;
  v_predecessor text;
begin
  select o.instance_id, o.binding_id into v_instance, v_binding from ${schema}.operation o where ${held};
  if not found then
    return;
  end if;
  if v_binding is not null then
    select b.predecessor_id into v_predecessor from ${schema}.binding b
      where b.instance_id = v_instance and b.id = v_binding;
  end if;
  return query select * from ${schema}.look(v_instance, v_binding, v_predecessor);
end $$;

${versionOf}
${writing(schema, { create: 'create function', columns: firstColumns })}-- Many at once, of different instances. It waits for no lock of theirs, so holding several can lead to no deadlock: those
-- that are locked get no row, and are to be written alone. New ids are inserted in their order, as everywhere.
create function ${schema}.writes(p_rows jsonb) returns table (place integer, outcome text, ${snapshot})
language plpgsql as $$
#variable_conflict use_column
declare
  v record;
begin
  for v in select r.* from jsonb_to_recordset(p_rows) as r (place integer, instance text, binding text, predecessor text,
      version text, now double precision, change jsonb) order by r.instance collate "C" loop
    return query select v.place, w.*
      from ${schema}.write(v.instance, v.binding, v.predecessor, v.version, v.change, v.now, false) w;
  end loop;
end $$;

create function ${schema}.put_step(p_operation text, p_step jsonb) returns void
language plpgsql as $$
begin
  insert into ${schema}.step as s (operation_id, name, state, doc, sealed)
    values (p_operation, p_step ->> 'name', p_step ->> 'state', p_step ->> 'doc', p_step ->> 'sealed')
    on conflict (operation_id, name) do update set state = excluded.state, doc = excluded.doc, sealed = excluded.sealed
    where s.state <> 'done';
  if not found then
    raise exception 'step % of operation % is done: it can''t be written again', p_step ->> 'name', p_operation;
  end if;
end $$;

create function ${schema}.checkpoint(p_operation text, p_fence bigint, p_description text, p_step jsonb, p_state text)
returns boolean language plpgsql as $$
declare
  v_instance text;
  v_binding text;
  v_done boolean := coalesce(p_step ->> 'state' = 'done', false);
begin
  if p_state is not null then
    -- Before the operation's lock, as everywhere. A binding is only written by whoever has its operation's lock.
    perform 1 from ${schema}.instance i where i.id =
      (select o.instance_id from ${schema}.operation o where o.id = p_operation and o.binding_id is null)
      for no key update;
  end if;
  update ${schema}.operation o set description = coalesce(p_description, o.description),
      losses = case when v_done then 0 else o.losses end,
      checkpoint_at = case when v_done then ${schema}.now_ms() else o.checkpoint_at end
    where ${held} returning o.instance_id, o.binding_id into v_instance, v_binding;
  if not found then
    return false;
  end if;
  if p_step is not null then
    perform ${schema}.put_step(p_operation, p_step);
  end if;
  if p_state is not null and v_binding is null then
    update ${schema}.instance i set sealed_state = p_state where i.id = v_instance;
  elsif p_state is not null then
    update ${schema}.binding b set sealed_state = p_state where b.instance_id = v_instance and b.id = v_binding;
  end if;
  return true;
end $$;

-- Many at once, none of them with a state; answers the fences of those that were written. It waits for no lock, so holding
-- several can lead to no deadlock, and one that is locked does not keep the others.
create function ${schema}.checkpoints(p_rows jsonb) returns setof bigint language plpgsql as $$
declare
  v record;
begin
  for v in select r.* from jsonb_to_recordset(p_rows) as r (id text, fence bigint, description text, step jsonb) loop
    perform 1 from ${schema}.operation o where o.id = v.id for no key update skip locked;
    if found and ${schema}.checkpoint(v.id, v.fence, v.description, nullif(v.step, 'null'), null) then
      return next v.fence;
    end if;
  end loop;
end $$;

create function ${schema}.park(p_operation text, p_fence bigint, p_until double precision, p_description text,
  p_step jsonb) returns boolean language plpgsql as $$
begin
  update ${schema}.operation o set state = 'queued', not_before = p_until, lease_owner = null, lease_until = null,
      description = coalesce(p_description, o.description) where ${held};
  if not found then
    return false;
  end if;
  if p_step is not null then
    perform ${schema}.put_step(p_operation, p_step);
  end if;
  return true;
end $$;

-- Answers whether anybody can start because of it.
create function ${schema}.hand_back(p_operation text, p_fence bigint) returns boolean language plpgsql as $$
declare
  v_now double precision := ${schema}.now_ms();
begin
  if ${schema}.park(p_operation, p_fence, v_now, null, null) then
    return true;
  end if;
  update ${schema}.operation o set lease_until = v_now
    where o.id = p_operation and o.fence = p_fence and o.state = 'superseded';
  if not found then
    return false;
  end if;
  update ${schema}.operation o set not_before = least(o.not_before, v_now)
    where o.drains = p_operation and o.state = 'queued';
  return true;
end $$;
${sharing(schema, held)}`
}

/** From the second schema on, the instance's row also says which revisions it needs. */
export function pinningWrite(schema: string): string {
  return writing(schema, { columns: pinningColumns })
}

/** From the third one on, rows also say what lists filter and sort by. */
export function listedWrite(schema: string): string {
  return writing(schema, { columns: listedColumns })
}

/** From the seventh one on, also those of older releases. */
export function completingWrite(schema: string): string {
  return writing(schema, { columns: listedColumns, first: completeOlder(schema) })
}

/** From the ninth one on, an operation may be written with its first lease, and the end of one without a look. */
export function leasingWrite(schema: string): string {
  const lease = leasedValues(schema, 'r', 'now')
  return writing(schema, { columns: listedColumns, first: completeOlder(schema), lease })
}

/** From the eighteenth on, what was generated from documents is written with them. */
export function keyedWrite(schema: string): string {
  const lease = leasedValues(schema, 'r', 'now', keyedColumns)
  return writing(schema, { columns: keyedColumns, first: completeOlder(schema), lease })
}

/** The columns that a change writes, besides those that a row is found by. */
export interface Columns {
  readonly instance: readonly string[]
  readonly binding: readonly string[]
  readonly operation: readonly string[]
}

const standing = ['phase', 'last_operation_id', 'unclean_until', 'deleted_at', 'doc', 'sealed', 'sealed_state']

const firstColumns: Columns = {
  instance: ['observe_at', ...standing],
  binding: ['predecessor_id', ...standing],
  operation:
    'instance_id binding_id state attempt losses not_before lease_owner lease_until fence drains unclean checkpoint_at description finished_at doc sealed'.split(
      ' ',
    ),
}

const pinningColumns: Columns = {
  ...firstColumns,
  instance: [...firstColumns.instance, 'revision_id', 'next_revision_id', 'pinned_plan'],
}

export const listedColumns: Columns = {
  instance: [...pinningColumns.instance, 'created_at', 'platform', 'service_id', 'plan_id', 'usable'],
  binding: [...pinningColumns.binding, 'created_at', 'service_id', 'plan_id'],
  operation: [...pinningColumns.operation, 'accepted_at', 'action'],
}

/** What lists go by that follows from an operation's document. */
export const operationKeys = ['service_key', 'plan_key', 'platform_key', 'failed_step', 'fingerprint'] as const

export const keyedColumns: Columns = { ...listedColumns, operation: [...listedColumns.operation, ...operationKeys] }

/**
 * The values of an operation that is written. A running one without a fence is being leased by its accept: it gets the next
 * one, and its `lease_until` is how long the lease is, since only here it is known from when on.
 */
export function leasedValues(schema: string, from: string, now: string, columns = listedColumns): string {
  return columns.operation.map(leasedValue(schema, from, now)).join(', ')
}

/** Of one column. */
export function leasedValue(schema: string, from: string, now: string) {
  const isNew = `${from}.state = 'running' and ${from}.fence = 0 and ${from}.lease_owner is not null`
  const values: Readonly<Record<string, string>> = {
    fence: `case when ${isNew} then nextval('${schema}.fence') else ${from}.fence end`,
    lease_until: `case when ${isNew} then ${now} + ${from}.lease_until else ${from}.lease_until end`,
  }
  return (column: string) => values[column] ?? `${from}.${column}`
}

interface Writing {
  readonly create?: string
  readonly columns: Columns
  /** What is done before anything else. */
  readonly first?: string
  /** From the ninth schema on: the values of an operation that is written with its first lease. */
  readonly lease?: string
}

function writing(
  schema: string,
  { create = 'create or replace function', columns, first = '', lease }: Writing,
): string {
  const since9 = (text: string) => (lease === undefined ? '' : text)
  const names = (of: readonly string[], before = '') => of.map(column => `${before}${column}`).join(', ')
  const replaced = (of: readonly string[]) => of.map(column => `${column} = excluded.${column}`).join(', ')
  const lockedOperations = `from ${schema}.operation o where o.instance_id = p_instance and o.${active}
      and coalesce(o.binding_id, '') in ('', coalesce(p_binding, ''))`
  return `-- Writes a change that was decided from the snapshot of the given version, and answers 'written'; or 'changed', with a new
-- snapshot to decide from. The same version also means that an operation that was held then is held now. The lock of an
-- instance is its row; for an id that has none it is the insert of that row, which lets one through. (An advisory lock
-- would be shared by all ids of one hash, and by other programs.)
--
-- No version: the change makes an instance, and was decided without looking, for an id that has no row and for the time
-- p_now. Then the insert of the row proves the first (bindings and operations refer to it), and p_now must be about now.
--
-- Where it is not to wait, and a row is locked or the instance not there, it answers nothing and has written nothing.
${create} ${schema}.write(p_instance text, p_binding text, p_predecessor text, p_version text, p_change jsonb,
  p_now double precision, p_wait boolean) returns table (outcome text, ${snapshot})
language plpgsql as $$
#variable_conflict use_column
declare
  v_exists boolean := false;
  v_changed boolean;
  v_locked integer;
begin${first}
  now := ${schema}.now_ms();
  if p_version is null then
    v_changed := p_now not between now - ${staleAfterMs} and now;
  else
    if p_wait then
      perform 1 from ${schema}.instance i where i.id = p_instance for no key update;
      v_exists := found;
      perform 1 ${lockedOperations} order by o.id for no key update;
    else
      perform 1 from ${schema}.instance i where i.id = p_instance for no key update skip locked;
      v_exists := found;
      perform 1 ${lockedOperations} for no key update skip locked;
      get diagnostics v_locked = row_count;
      if not v_exists or v_locked < (select count(*) ${lockedOperations}) then
        return;
      end if;
    end if;
    v_changed := ${schema}.version_of(p_instance, p_binding, p_predecessor) <> p_version${since9(`
      or coalesce(p_now not between now - ${staleAfterMs} and now, false)`)};
  end if;
  if v_changed then
    return query select 'changed', s.* from ${schema}.look(p_instance, p_binding, p_predecessor) s;
    return;
  end if;

  if p_change ? 'instance' then
    insert into ${schema}.instance (id, ${names(columns.instance)})
      select r.id, ${names(columns.instance, 'r.')}
      from jsonb_populate_record(null::${schema}.instance, p_change -> 'instance') r
      on conflict (id) do update set ${replaced(columns.instance)} where v_exists;
    -- Somebody else has made the row that was not there a moment ago.
    if not found then
      return query select 'changed', s.* from ${schema}.look(p_instance, p_binding, p_predecessor) s;
      return;
    end if;
  end if;
  if p_change ? 'bindings' then
    insert into ${schema}.binding (instance_id, id, ${names(columns.binding)})
      select r.instance_id, r.id, ${names(columns.binding, 'r.')}
      from jsonb_populate_recordset(null::${schema}.binding, p_change -> 'bindings') with ordinality r
      order by r.ordinality
      on conflict (instance_id, id) do update set ${replaced(columns.binding)};
  end if;
  if p_change ? 'operations' then
    -- In their order: the one that ends leaves its place in the unique index to the one that begins.
    ${since9('with put as (')}insert into ${schema}.operation (id, ${names(columns.operation)})
      select r.id, ${lease ?? names(columns.operation, 'r.')}
      from jsonb_populate_recordset(null::${schema}.operation, p_change -> 'operations') with ordinality r
      order by r.ordinality
      on conflict (id) do update set ${replaced(columns.operation)}${since9(` returning fence, state)
      select max(put.fence)::text into version from put where put.state = 'running'`)};
  end if;
  if p_change ? 'forget' then
    delete from ${schema}.operation o
      where o.id = any (array(select jsonb_array_elements_text(p_change -> 'forget')));
  end if;
  if p_change ? 'history' then
    insert into ${schema}.history (instance_id, doc)
      select r.instance_id, r.doc
      from jsonb_populate_recordset(null::${schema}.history, p_change -> 'history') with ordinality r
      order by r.ordinality;
  end if;
  outcome := 'written';
  return next;
end $$;

`
}

function sharing(schema: string, held: string): string {
  const snapshot = 'instance_id text, phase text, holder text, other_claims integer, holder_alive boolean, version text'
  return `
-- No row: the lease is lost. Other claims are counted to one, since decisions only ask whether there is any.
create function ${schema}.look_shared(p_operation text, p_fence bigint, p_key text) returns table (${snapshot})
language plpgsql as $$
#variable_conflict use_column
begin
  return query select o.instance_id, r.phase, r.holder, c.others, a.alive,
      format('%s %s %s', r.xmin, c.others, a.alive)
    from ${schema}.operation o
    left join ${schema}.shared_resource r on r.key = p_key
    left join ${schema}.operation h on h.id = r.holder and h.id <> o.id
    cross join lateral (select count(*)::integer as others from (select 1 from ${schema}.shared_claim x
      where x.resource_key = p_key and x.instance_id <> o.instance_id limit 1) y) c
    cross join lateral (select coalesce(
      h.state in ('queued', 'running') or h.lease_until > ${schema}.now_ms(), false) as alive) a
    where ${held};
end $$;

-- As write() does, for what was decided from look_shared(). The row of a resource comes and goes, so the lock is on its
-- key; it is the last in the order of locks.
create function ${schema}.share(p_operation text, p_fence bigint, p_key text, p_version text, p_phase text,
  p_holder text, p_claim boolean) returns table (outcome text, ${snapshot})
language plpgsql as $$
#variable_conflict use_column
declare
  v_instance text;
  v_version text;
begin
  select o.instance_id into v_instance from ${schema}.operation o where ${held} for no key update;
  if not found then
    return;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('${schema.replaceAll('"', '')}.' || p_key, 0));
  select s.version into v_version from ${schema}.look_shared(p_operation, p_fence, p_key) s;
  if v_version <> p_version then
    return query select 'changed', s.* from ${schema}.look_shared(p_operation, p_fence, p_key) s;
    return;
  end if;
  if p_phase = 'absent' then
    delete from ${schema}.shared_resource r where r.key = p_key;
  else
    insert into ${schema}.shared_resource (key, phase, holder) values (p_key, p_phase, p_holder)
      on conflict (key) do update set phase = excluded.phase, holder = excluded.holder;
  end if;
  if p_claim then
    insert into ${schema}.shared_claim (resource_key, instance_id) values (p_key, v_instance) on conflict do nothing;
  elsif not p_claim then
    delete from ${schema}.shared_claim c where c.resource_key = p_key and c.instance_id = v_instance;
  end if;
  outcome := 'written';
  return next;
end $$;
`
}
