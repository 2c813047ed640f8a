/** The condition of the partial indexes, word for word. */
export const active = `state in ('queued', 'running')`

/** What a decision is made from. */
export const snapshot = `now double precision, version text, instance json, operation json, binding json,
    binding_operation json, predecessor json, live integer, busy integer`

/** Differs whenever anything differs that a decision is made from: every write of a row gives it a new xmin. */
const instanceVersion = `format('%s %s %s %s', i.xmin, o.xmin, l.live, u.busy)`
const bindingVersion = `format('%s %s %s %s', ${instanceVersion}, b.xmin, bo.xmin, p.xmin)`

/** How many bindings of an instance live. */
export function countLive(schema: string, instance: string): string {
  return `select count(*)::integer as live from ${schema}.binding x
      where x.instance_id = ${instance} and x.phase in ('ready', 'creating', 'deleting')`
}

/** What a decision about an instance is made from, and about a binding of it. `keyed` makes the names of their ids. */
function sources(schema: string, busy: string, keyed: (name: string) => string) {
  const [instance = '', binding, predecessor] = ['instance', 'binding', 'predecessor'].map(keyed)
  const ofInstance = `
    from (${countLive(schema, instance)}) l
    cross join (select ${busy} as busy from ${schema}.operation x
      where x.instance_id = ${instance} and x.binding_id is not null and x.${active}) u
    left join ${schema}.instance i on i.id = ${instance}
    left join ${schema}.operation o on o.instance_id = ${instance} and coalesce(o.binding_id, '') = '' and o.${active}`
  const ofBinding = `${ofInstance}
    left join ${schema}.binding b on b.instance_id = ${instance} and b.id = ${binding}
    left join ${schema}.operation bo
      on bo.instance_id = ${instance} and coalesce(bo.binding_id, '') = ${binding} and bo.${active}
    left join ${schema}.binding p on p.instance_id = ${instance} and p.id = ${predecessor}`
  return { ofInstance, ofBinding }
}

/** How a decision is shown what it is made from, and how that is recognised again. `busy` counts the operations of bindings. */
export function looking(
  schema: string,
  create: string,
  busy: string,
): { readonly look: string; readonly versionOf: string } {
  const { ofInstance, ofBinding } = sources(schema, busy, name => `p_${name}`)
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
  const { look, versionOf } = looking(schema, 'create or replace function', busyAndSwept)
  return `${look}\n${versionOf}`
}

export const sweptUnit = 65_536

const busyAndSwept = `coalesce(sum(case x.action when 'sweep' then ${sweptUnit} else 1 end), 0)::integer`

/** The version as version_of() tells it, for the row `r` of a statement about many. */
export function versionOfRow(schema: string): string {
  const { ofBinding } = sources(schema, busyAndSwept, name => `r.${name}`)
  return `(select case when r.binding is null then ${instanceVersion} else ${bindingVersion} end ${ofBinding})`
}
