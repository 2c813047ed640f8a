/**
 * The sixth schema: each start of each server that has had the ledger, as pg_postmaster_start_time() tells them apart. A
 * standby that takes over has a start of its own.
 *
 * Transactions are numbered in order. What has a number from `first_transaction` on and was not written by this start was
 * lost; so was what has a lower one and is not committed here. Numbers are used again after a loss, so that this can be seen
 * only if each start is noted before anybody writes: by the first connection that meets it.
 *
 * Fences go on far above all that were ever given out, the lost ones too: they rise with the clock between two starts, by more than
 * anybody can claim. Else two holders of an operation could have the same one. The function does it by the rights of the
 * schema's owner: a broker's user may not set a sequence.
 */
export function serverSchema(schema: string): string {
  return `
create table ${schema}.server (
  started_at timestamptz primary key,
  first_transaction xid8 not null,
  first_fence bigint not null
);

-- p_written: transactions that the caller was told are committed, on any start before this one.
create function ${schema}.meet_server(p_written text[])
returns table (started text, first_fence double precision, lost integer)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  v_start timestamptz := pg_postmaster_start_time();
  v_server ${schema}.server;
begin
  select s.* into v_server from ${schema}.server s where s.started_at = v_start;
  if not found then
    insert into ${schema}.server (started_at, first_transaction, first_fence)
      select v_start, pg_current_xact_id(),
        greatest(f.last_value, floor(extract(epoch from clock_timestamp()))::bigint * 1048576) from ${schema}.fence f
      on conflict do nothing returning * into v_server;
    if found then
      perform setval('${schema}.fence', v_server.first_fence);
    else
      select s.* into v_server from ${schema}.server s where s.started_at = v_start;
    end if;
  end if;
  return query select (extract(epoch from v_start) * 1000000)::bigint::text, v_server.first_fence::double precision,
    (select count(*)::integer from unnest(p_written::xid8[]) x where case when x >= v_server.first_transaction then true
      else coalesce(pg_xact_status(x) = 'aborted', false) end);
end $$;
`
}
