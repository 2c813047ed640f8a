/**
 * The tables and the function of the second schema: what came from registries. An instance refers to the revisions that it
 * needs, so that none can be stored without them, nor they go while it is there. `doc` is a row as JSON. The ids of
 * services and revisions are our own hashes, and plain texts; plans come from outside, and are JSON.
 */
export function catalogSchema(schema: string): string {
  const needed = (revision: string) => `(exists (select 1 from ${schema}.instance i where i.revision_id = ${revision})
      or exists (select 1 from ${schema}.instance i where i.next_revision_id = ${revision}))`

  return `
create table ${schema}.revision (
  id text collate "C" primary key,
  service_id text collate "C" not null,
  doc text not null
);
create index revision_by_service on ${schema}.revision (service_id);

create table ${schema}.service (
  id text collate "C" primary key,
  revision_id text collate "C" not null references ${schema}.revision (id),
  retired boolean not null,
  doc text not null
);
create index service_by_revision on ${schema}.service (revision_id);

create table ${schema}.registry (
  name text collate "C" primary key,
  doc text not null
);

create table ${schema}.catalog (
  id integer primary key check (id = 1),
  version integer not null,
  changed_at double precision,
  report text
);
insert into ${schema}.catalog (id, version) values (1, 0);

alter table ${schema}.instance
  add column revision_id text collate "C" constraint instance_revision references ${schema}.revision (id),
  add column next_revision_id text collate "C" constraint instance_next_revision references ${schema}.revision (id),
  add column pinned_plan text;
create index instance_by_revision on ${schema}.instance (revision_id, pinned_plan) where revision_id is not null;
create index instance_by_next_revision on ${schema}.instance (next_revision_id, pinned_plan, revision_id)
  where next_revision_id is not null;

-- The last statement of the transaction of a change, after the inserts of its revisions. What is locked is being pinned to
-- at this moment: it is not waited for but left for another time, so that nothing here waits for an instance's transaction.
-- Who wants to pin to what is locked here waits, and finds it or not.
create function ${schema}.change_catalog(p_version integer, p_touches boolean, p_inserted integer, p_services jsonb,
  p_delete_services text[], p_delete_revisions text[], p_registries jsonb, p_delete_registries text[], p_report text)
returns table (written boolean, changed boolean) language plpgsql as $$
declare
  v_version integer;
  v_changed integer := p_inserted;
  v_rows integer;
  v_locked integer;
  v_id text;
begin
  select c.version into v_version from ${schema}.catalog c where c.id = 1 for no key update;
  if p_touches and v_version <> p_version then
    return query select false, false;
    return;
  end if;

  insert into ${schema}.service as s (id, revision_id, retired, doc)
    select r.id, r.revision_id, r.retired, r.doc
    from jsonb_to_recordset(p_services) as r (id text, revision_id text, retired boolean, doc text)
    on conflict (id) do update set revision_id = excluded.revision_id, retired = excluded.retired, doc = excluded.doc
    where s.doc <> excluded.doc;
  get diagnostics v_rows = row_count;
  v_changed := v_changed + v_rows;

  -- Looks at the instances come after the locks, in statements of their own: they see who was pinned until then.
  foreach v_id in array p_delete_services loop
    perform 1 from ${schema}.service s where s.id = v_id and s.retired;
    continue when not found;
    perform 1 from ${schema}.revision r where r.service_id = v_id for update skip locked;
    get diagnostics v_locked = row_count;
    perform 1 from ${schema}.revision r where r.service_id = v_id;
    get diagnostics v_rows = row_count;
    continue when v_locked < v_rows;
    perform 1 from ${schema}.revision r where r.service_id = v_id and ${needed('r.id')};
    continue when found;
    delete from ${schema}.service s where s.id = v_id;
    v_changed := v_changed + 1;
  end loop;

  foreach v_id in array p_delete_revisions loop
    perform 1 from ${schema}.revision r where r.id = v_id for update skip locked;
    continue when not found;
    perform 1 from ${schema}.revision r where r.id = v_id
      and (${needed('r.id')} or exists (select 1 from ${schema}.service s where s.revision_id = r.id));
    continue when found;
    delete from ${schema}.revision r where r.id = v_id;
    v_changed := v_changed + 1;
  end loop;

  insert into ${schema}.registry as g (name, doc)
    select r.name, r.doc from jsonb_to_recordset(p_registries) as r (name text, doc text)
    on conflict (name) do update set doc = excluded.doc;
  delete from ${schema}.registry g where g.name = any (p_delete_registries);

  if v_changed > 0 then
    update ${schema}.catalog c set version = c.version + 1,
        changed_at = case when p_report is null then c.changed_at else ${schema}.now_ms() end,
        report = coalesce(p_report, c.report)
      where c.id = 1;
  end if;
  return query select true, v_changed > 0;
end $$;
`
}
