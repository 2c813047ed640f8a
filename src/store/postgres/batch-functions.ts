import {
  type Columns,
  keyedColumns,
  leasedValue,
  leasedValues,
  listedColumns,
  operationKeys,
  staleAfterMs,
} from './functions.ts'
import { active, snapshot, versionOfRow } from './look-functions.ts'

/**
 * The functions of the eighth schema: calls of many operations at once. Each takes a few statements for all of them, since
 * what a small statement costs is mostly its beginning and its end.
 *
 * They wait for no lock of a row that is there, so holding several can lead to no deadlock: what is locked is left out, and
 * is to be done alone. New ids are inserted in their order, as everywhere.
 */
export function batchFunctions(schema: string): string {
  return `${writes(schema)}
${checkpoints(schema)}`
}

/** The same from the ninth schema on: operations with their first lease, and ends that were decided without a look. */
export function leasingWrites(schema: string): string {
  return writes(schema, { lease: leasedValues(schema, 'n', 'v_now') })
}

/** From the eighteenth on, operations that are there are updated: to insert them first costs as much again. */
export function keyedWrites(schema: string): string {
  const lease = leasedValues(schema, 'n', 'v_now', keyedColumns)
  return writes(schema, { lease, columns: keyedColumns, update: updating(schema) })
}

const names = (of: readonly string[], before = '') => of.map(column => `${before}${column}`).join(', ')

const replaced = (of: readonly string[]) => of.map(column => `${column} = excluded.${column}`).join(', ')

const rows = (...columns: string[]) => `jsonb_to_recordset(p_rows) as r (place integer, ${columns.join(', ')})`

interface Writing {
  /** From the ninth schema on: the values of an operation that is written with its first lease. */
  readonly lease?: string
  readonly columns?: Columns
  /** What updates operations that are there. */
  readonly update?: string
}

/**
 * A change of one operation that is there, as most ends are, updates it: v_updated has its place, and inserts come without it.
 * What a replica of an older release ends keeps the keys that it does not know.
 */
function updating(schema: string): string {
  const value = leasedValue(schema, 'n', 'v_now')
  const kept = (column: string) => (operationKeys as readonly string[]).includes(column)
  const set = keyedColumns.operation.map(
    column => `${column} = ${kept(column) ? `coalesce(n.${column}, o.${column})` : value(column)}`,
  )
  return `if v_written <> coalesce(v_made, '{}') then
    with put as (
      update ${schema}.operation o set ${set.join(', ')} from ${rows('version text', 'change jsonb')}
        cross join lateral jsonb_populate_record(null::${schema}.operation, r.change #> '{operations,0}') n
        where r.place = any (v_written) and r.version is not null and jsonb_array_length(r.change -> 'operations') = 1
          and o.id = n.id
        returning r.place, o.instance_id, o.fence, o.state
    )
    select coalesce(array_agg(put.place), '{}'),
        jsonb_object_agg(put.instance_id, put.fence) filter (where put.state = 'running') into v_updated, v_fences from put;
  end if;`
}

/** As write() does it for one: locks, compares, writes. The second of two about one instance gets no row, as a locked one. */
function writes(schema: string, { lease, columns = listedColumns, update }: Writing = {}): string {
  const since9 = (text: string) => (lease === undefined ? '' : text)
  const since18 = (text: string) => (update === undefined ? '' : text)
  const { instance, binding, operation } = columns
  const keys = ['instance text', 'binding text', 'predecessor text', 'version text']
  const timed = lease === undefined ? keys : [...keys, 'now double precision']
  /** Rows of a table in the changes that are written, in the order of the changes and of the rows in each. */
  const listed = (table: string, under: string, also = '') => `${rows('change jsonb')}
      cross join lateral jsonb_populate_recordset(null::${schema}.${table}, r.change -> '${under}') with ordinality n
      where r.place = any (v_written)${also && ` ${also}`} order by r.place, n.ordinality`
  const putOperations = `${since9('with put as (')}insert into ${schema}.operation (id, ${names(operation)})
    select n.id, ${lease ?? names(operation, 'n.')} from ${listed('operation', 'operations', since18('and r.place <> all (v_updated)'))}
    on conflict (id) do update set ${replaced(operation)}${since9(` returning instance_id, fence, state)
    select jsonb_object_agg(put.instance_id, put.fence) into ${since18('v_leased') || 'v_fences'} from put where put.state = 'running'`)};`
  const locked = `o.instance_id = r.instance and o.${active}
        and coalesce(o.binding_id, '') in ('', coalesce(r.binding, ''))`
  return `
create or replace function ${schema}.writes(p_rows jsonb) returns table (place integer, outcome text, ${snapshot})
language plpgsql as $$
#variable_conflict use_column
declare
  v_now double precision := ${schema}.now_ms();
  v_instances text[];
  v_operations text[];
  v_written integer[] := '{}';
  v_changed integer[] := '{}';
  v_made integer[];${since9('\n  v_fences jsonb;')}${since18("\n  v_leased jsonb;\n  v_updated integer[] := '{}';")}
begin
  if p_rows @? '$[*] ? (@.version != null)' then
    v_instances := array(select i.id from ${rows(...keys)} join ${schema}.instance i on i.id = r.instance
      where r.version is not null for no key update of i skip locked);
    v_operations := array(select o.id from ${rows(...keys)} join ${schema}.operation o on ${locked}
      where r.instance = any (v_instances) for no key update of o skip locked);
    select coalesce(array_agg(s.place) filter (where s.same), '{}'),
        coalesce(array_agg(s.place) filter (where not s.same), '{}') into v_written, v_changed
      from (select distinct on (r.instance) r.place, ${versionOfRow(schema)} = r.version${since9(`
          and coalesce(r.now between v_now - ${staleAfterMs} and v_now, true)`)} as same from ${rows(...timed)}
        where r.version is not null and r.instance = any (v_instances)
          and not exists (select 1 from ${schema}.operation o where ${locked} and o.id <> all (v_operations))
        order by r.instance, r.place) s;
    update ${schema}.instance i set ${instance.map(column => `${column} = n.${column}`).join(', ')}
      from ${rows('change jsonb')}
      cross join lateral jsonb_populate_record(null::${schema}.instance, r.change -> 'instance') n
      where r.place = any (v_written) and i.id = n.id;
  end if;

  if p_rows @? '$[*] ? (@.version == null)' then
    with fresh as materialized (
      select distinct on (r.instance collate "C") r.place, r.instance, r.now, r.change
      from ${rows('instance text', 'version text', 'now double precision', 'change jsonb')}
      where r.version is null order by r.instance collate "C", r.place
    ),
    made as (
      insert into ${schema}.instance (id, ${names(instance)})
      select n.id, ${names(instance, 'n.')} from fresh f
        cross join lateral jsonb_populate_record(null::${schema}.instance, f.change -> 'instance') n
        where f.now between v_now - ${staleAfterMs} and v_now order by f.instance collate "C"
      on conflict (id) do nothing returning id
    )
    select coalesce(array_agg(f.place) filter (where m.id is not null), '{}'),
        v_changed || coalesce(array_agg(f.place) filter (where m.id is null), '{}') into v_made, v_changed
      from fresh f left join made m on m.id = f.instance;
    v_written := v_written || v_made;
  end if;

  if p_rows @? '$[*].change.bindings' then
    insert into ${schema}.binding (instance_id, id, ${names(binding)})
      select n.instance_id, n.id, ${names(binding, 'n.')} from ${listed('binding', 'bindings')}
      on conflict (instance_id, id) do update set ${replaced(binding)};
  end if;
  ${
    update === undefined
      ? putOperations
      : `${update}
  if cardinality(v_updated) < cardinality(v_written) then
    ${putOperations}
    v_fences := coalesce(v_fences || v_leased, v_fences, v_leased);
  end if;`
  }
  if p_rows @? '$[*].change.forget' then
    delete from ${schema}.operation o where o.id = any (array(
      select jsonb_array_elements_text(r.change -> 'forget') from ${rows('change jsonb')} where r.place = any (v_written)));
  end if;
  insert into ${schema}.history (instance_id, doc)
    select n.instance_id, n.doc from ${listed('history', 'history')};

  now := v_now;
  outcome := 'written';
${since9(`  if v_fences is not null then
    return query select r.place, 'written', v_now, v_fences ->> r.instance, null::json, null::json, null::json,
      null::json, null::json, null::integer, null::integer from ${rows('instance text')} where r.place = any (v_written);
    v_written := '{}';
  end if;
`)}  foreach place in array v_written loop
    return next;
  end loop;
  if v_changed <> '{}' then
    return query select r.place, 'changed', s.* from ${rows(...keys)}
      cross join lateral ${schema}.look(r.instance, r.binding, r.predecessor) s where r.place = any (v_changed);
  end if;
end $$;
`
}

/** None of them with a state, and no two of one operation. Answers the fences of those that were written. */
function checkpoints(schema: string): string {
  const isDone = `coalesce(held.step ->> 'state' = 'done', false)`
  return `
create or replace function ${schema}.checkpoints(p_rows jsonb) returns setof bigint language plpgsql as $$
declare
  v_now double precision := ${schema}.now_ms();
  v_fences bigint[];
  v_steps integer;
  v_put integer;
begin
  with held as materialized (
    select o.id, r.fence, r.description, nullif(r.step, 'null') as step
    from jsonb_to_recordset(p_rows) as r (id text, fence bigint, description text, step jsonb)
      join ${schema}.operation o on o.id = r.id and o.fence = r.fence and o.state = 'running'
    for no key update of o skip locked
  ),
  noted as (
    update ${schema}.operation o set description = coalesce(held.description, o.description),
      losses = case when ${isDone} then 0 else o.losses end,
      checkpoint_at = case when ${isDone} then v_now else o.checkpoint_at end
    from held where o.id = held.id
  ),
  put as (
    insert into ${schema}.step as s (operation_id, name, state, doc, sealed)
    select held.id, held.step ->> 'name', held.step ->> 'state', held.step ->> 'doc', held.step ->> 'sealed'
      from held where held.step is not null
    on conflict (operation_id, name) do update set state = excluded.state, doc = excluded.doc, sealed = excluded.sealed
    where s.state <> 'done' returning 1
  )
  select array_agg(held.fence), count(held.step), (select count(*) from put) into v_fences, v_steps, v_put from held;
  if v_put < v_steps then
    raise exception 'a step of these is done: it cannot be written again';
  end if;
  return query select unnest(v_fences);
end $$;
`
}
