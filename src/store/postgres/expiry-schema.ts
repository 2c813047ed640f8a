/**
 * Schema 17: bindings that expire, and when the chore has to look at each of them. Both are generated from the
 * document, in which an older release writes `expiresAt` as well. The document is read as JSON, since what comes from outside
 * may have keys of the same names deeper inside; but for the escapes that PostgreSQL refuses, in whose place a slash reads the
 * same to whoever wants no more than a number of ours.
 */
export function expirySchema(schema: string): string {
  const time = (column: string) => `double precision generated always as (${column}) stored`
  return `
create function ${schema}.time_in(p_doc text, p_key text) returns double precision language sql immutable as $$
  select case when p_doc like '%"' || p_key || '":%' then
    (regexp_replace(p_doc, '\\\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '/', 'g')::jsonb ->> p_key)::double precision end
$$;
alter table ${schema}.binding
  add column expires_at ${time(`${schema}.time_in(doc, 'expiresAt')`)},
  add column notice_at ${time(`coalesce(${schema}.time_in(doc, 'noticeAt'), ${schema}.time_in(doc, 'expiresAt'))`)};
create index binding_list_expires on ${schema}.binding (expires_at, instance_id, id)
  where deleted_at is null and expires_at is not null;
create index binding_notice on ${schema}.binding (notice_at, seq) where deleted_at is null and notice_at is not null;
`
}
