import {
  countedActions,
  limitsOf,
  overQuota,
  type PlatformUse,
  type QuotaKind,
  type Within,
} from '../../domain/quota.ts'
import { text } from '../columns.ts'
import { keyOf } from '../keys.ts'
import type { Calls } from './database.ts'
import { active, snapshot } from './look-functions.ts'
import { generatedKey } from './operator-schema.ts'

/**
 * Schema 16: a change that has to stay within what its platform may have. Those of one platform come one after the
 * other, by a lock that a change without a limit does not take; it is taken before all others. What is counted includes the
 * change, which is taken back where it is too much: so a request that repeats another one is told so first.
 */
export function quotaSchema(schema: string): string {
  const columns = snapshot.split(',').map(column => column.trim().split(' ')[0])
  return `
create function ${schema}.platform_use(p_kind text, p_platform text, p_platform_key text, p_most bigint) returns bigint
language plpgsql as $$
begin
  if p_kind = 'instances' then
    return (select count(*) from (select 1 from ${schema}.instance i
      where i.platform = p_platform and i.deleted_at is null and i.phase <> 'deleted' limit p_most) counted);
  elsif p_kind = 'bindings' then
    return (select count(*) from (select 1 from ${schema}.instance i join ${schema}.binding b on b.instance_id = i.id
      where i.platform = p_platform and i.deleted_at is null and i.phase <> 'deleted' and b.phase <> 'deleted'
      limit p_most) counted);
  end if;
  return (select count(*) from (select 1 from ${schema}.operation o
    where o.${active} and o.due_at is not null and o.platform_key = p_platform_key
      and o.action in (${countedActions.map(action => `'${action}'`).join(', ')}) limit p_most) counted);
end $$;

-- As write(); or 'over', with the kind that would be too many in the place of the version.
create function ${schema}.write_within(p_within jsonb, p_instance text, p_binding text, p_predecessor text, p_version text,
  p_change jsonb, p_now double precision) returns table (outcome text, ${snapshot})
language plpgsql as $$
#variable_conflict use_column
declare
  v record;
  v_limit record;
  v_kind text;
begin
  perform pg_advisory_xact_lock(hashtextextended('${schema.replaceAll("'", "''")} quota ' || (p_within ->> 'platform'), 0));
  begin
    select w.* into v from ${schema}.write(p_instance, p_binding, p_predecessor, p_version, p_change, p_now, true) w;
    if v.outcome = 'written' then
      for v_limit in select l.kind, l.most from jsonb_to_recordset(p_within -> 'limits') as l (kind text, most bigint) loop
        v_kind := v_limit.kind;
        if ${schema}.platform_use(v_kind, p_within ->> 'platform', p_within ->> 'key', v_limit.most + 1) > v_limit.most then
          raise exception using errcode = 'PQ001', message = v_kind;
        end if;
      end loop;
    end if;
  exception when sqlstate 'PQ001' then
    outcome := 'over';
    version := v_kind;
    return next;
    return;
  end;
  return query select v.outcome, ${columns.map(column => `v.${column}`).join(', ')};
end $$;
`
}

/** What write_within() is given. */
export function fromWithin(within: Within): string {
  const limits = limitsOf(within).map(([kind, most]) => ({ kind, most }))
  return JSON.stringify({ platform: keyOf(within.platform), key: generatedKey(within.platform), limits })
}

export function refuseOver(within: Within, row: { readonly outcome?: unknown; readonly version?: unknown }): void {
  if (row.outcome === 'over') throw overQuota(row.version as QuotaKind, within)
}

export function createQuotaReads({ run, statements }: Calls) {
  return {
    async platforms(): Promise<readonly string[]> {
      const rows = await run(statements.platforms, [])
      return rows.map(({ doc }) => text(JSON.parse(text(doc)).platform))
    },
    async platformUse(platform: string): Promise<PlatformUse> {
      const [row] = await run(statements.platformUse, [keyOf(platform), generatedKey(platform)])
      const { instances, bindings, operations } = row ?? {}
      return { instances: Number(instances), bindings: Number(bindings), operations: Number(operations) }
    },
  }
}
