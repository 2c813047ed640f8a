/** The condition of the partial indexes, word for word. */
export const active = `state in ('queued', 'running')`

/** What a decision is made from. */
export const snapshot = `now double precision, version text, instance json, operation json, binding json,
    binding_operation json, predecessor json, live integer, busy integer`

/** How a decision is shown what it is made from, and how that is recognised again. `busy` counts the operations of bindings. */
export function looking(
  schema: string,
  create: string,
  busy: string,
): { readonly look: string; readonly versionOf: string } {
  /** What a decision about p_instance is made from. */
  const ofInstance = `
    from (select count(*)::integer as live from ${schema}.binding x
      where x.instance_id = p_instance and x.phase in ('ready', 'creating', 'deleting')) l
    cross join (select ${busy} as busy from ${schema}.operation x
      where x.instance_id = p_instance and x.binding_id is not null and x.${active}) u
    left join ${schema}.instance i on i.id = p_instance
    left join ${schema}.operation o on o.instance_id = p_instance and coalesce(o.binding_id, '') = '' and o.${active}`

  /** And about p_binding of it, with p_predecessor. */
  const ofBinding = `${ofInstance}
    left join ${schema}.binding b on b.instance_id = p_instance and b.id = p_binding
    left join ${schema}.operation bo
      on bo.instance_id = p_instance and coalesce(bo.binding_id, '') = p_binding and bo.${active}
    left join ${schema}.binding p on p.instance_id = p_instance and p.id = p_predecessor`

  /** Differs whenever anything of the above differs: every write of a row gives it a new xmin. */
  const instanceVersion = `format('%s %s %s %s', i.xmin, o.xmin, l.live, u.busy)`
  const bindingVersion = `format('%s %s %s %s', ${instanceVersion}, b.xmin, bo.xmin, p.xmin)`

  return {
    look: `${create} ${schema}.look(p_instance text, p_binding text, p_predecessor text) returns table (${snapshot})
language plpgsql as $$
begin
  if p_binding is null then
    return query select ${schema}.now_ms(), ${instanceVersion}, to_json(i), to_json(o), null::json, null::json, null::json,
      l.live, u.busy ${ofInstance};
  else
    return query select ${schema}.now_ms(), ${bindingVersion}, to_json(i), to_json(o), to_json(b), to_json(bo), to_json(p),
      l.live, u.busy ${ofBinding};
  end if;
end $$;
`,
    versionOf: `${create} ${schema}.version_of(p_instance text, p_binding text, p_predecessor text) returns text
language plpgsql as $$
begin
  if p_binding is null then
    return (select ${instanceVersion} ${ofInstance});
  end if;
  return (select ${bindingVersion} ${ofBinding});
end $$;
`,
  }
}

/**
 * From the fourth schema on, `busy` tells operations of platforms from sweeps, which count `sweptUnit` each. One number holds
 * both, since the type of the rows cannot change under the replicas of the release before; and those go on refusing a
 * deletion while a sweep is active, which they do not know how to wait for.
 */
export function sweptLook(schema: string): string {
  const busy = `coalesce(sum(case x.action when 'sweep' then ${sweptUnit} else 1 end), 0)::integer`
  const { look, versionOf } = looking(schema, 'create or replace function', busy)
  return `${look}\n${versionOf}`
}

export const sweptUnit = 65_536
