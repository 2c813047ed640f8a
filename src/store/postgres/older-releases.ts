/**
 * The seventh schema: what a replica of an older release writes beside newer ones, in a rolling update. Its rows lack the
 * columns that came after it, and write() would take them for empty: pins would be forgotten, and rows refused. All of them
 * follow from the row's document, in which an older release passes on what it does not know.
 *
 * Every row that a release since the third schema writes has one of the two times, and is left as it is. Many at once that lack
 * them are refused by writes(), and come again one by one.
 */
export const completeOlder = (schema: string) => `
  if not coalesce(p_change -> 'instance', p_change #> '{bindings,0}', p_change #> '{operations,0}')
      ?| array['created_at', 'accepted_at'] then
    p_change := ${schema}.completed_change(p_change);
  end if;`

/** `doc` is read as json, since a jsonb cannot hold every text. A key that is not plain is hashed by those who can. */
export function olderReleases(schema: string): string {
  const key = (name: string) => `coalesce(substring(v_doc ->> '${name}' from '^(?!#)[ -~]{1,250}$'), '')`
  const completed = (rows: string) =>
    `(select jsonb_agg(${schema}.completed_row(x.value) order by x.ordinality)
      from jsonb_array_elements(p_change -> '${rows}') with ordinality x)`
  return `
create function ${schema}.completed_row(p_row jsonb) returns jsonb language plpgsql as $$
declare
  v_doc json := (p_row ->> 'doc')::json;
begin
  return p_row || jsonb_strip_nulls(jsonb_build_object(
    'created_at', (v_doc ->> 'createdAt')::double precision,
    'accepted_at', (v_doc ->> 'acceptedAt')::double precision,
    'action', v_doc ->> 'action',
    'platform', ${key('platform')},
    'service_id', ${key('serviceId')},
    'plan_id', ${key('planId')},
    'usable', (v_doc ->> 'usable')::boolean,
    'revision_id', v_doc ->> 'revisionId',
    'next_revision_id', v_doc ->> 'nextRevisionId',
    'pinned_plan', case when coalesce(v_doc ->> 'revisionId', v_doc ->> 'nextRevisionId') is not null
      then (v_doc -> 'planId')::text end));
end $$;

create function ${schema}.completed_change(p_change jsonb) returns jsonb language sql as $$
  select p_change || jsonb_strip_nulls(jsonb_build_object(
    'instance', ${schema}.completed_row(p_change -> 'instance'),
    'bindings', ${completed('bindings')},
    'operations', ${completed('operations')}))
$$;
`
}
