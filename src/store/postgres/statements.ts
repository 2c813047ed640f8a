import { longestLease } from '../../domain/replica-name.ts'
import type { Query } from './driver.ts'
import { countLive, snapshot } from './look-functions.ts'

export type Statement = Pick<Query, 'name' | 'text'>

export type Statements = Readonly<Record<keyof ReturnType<typeof texts>, Statement>>

/** Every statement of the store, one for each call. Those with a name are parsed and planned once by each connection. */
export function createStatements(schema: string, named: boolean): Statements {
  const entries = Object.entries(texts(schema)).map(([name, text]) => [
    name,
    { name: named ? `purser_${name}` : undefined, text },
  ])
  return Object.fromEntries(entries) as Statements
}

function texts(schema: string) {
  const active = `state in ('queued', 'running')`
  /** Read once for a statement, and in a form that an index can be searched with. */
  const clock = `clock as materialized (select ${schema}.now_ms() as now)`
  /** Due when a lease that stands now ends, or when whatever else is due then. */
  const leased = `o.due_at > (select now from clock) and o.due_at <= (select now + ${longestLease} from clock)`
  /** Read last, when the statement has written what it writes: see witness.ts. */
  const transaction = 'pg_current_xact_id_if_assigned()::text as transaction'
  /** How long the server has worked on this statement: in the last row, all but the commit. */
  const workMs = `extract(epoch from clock_timestamp() - statement_timestamp())::double precision * 1000`
  const columns = snapshot.split(',').map(column => column.trim().split(' '))
  const seen = (of: string) => columns.map(([name]) => `${of}.${name}`).join(', ')
  /** Nothing but the time and a version. */
  const nothingSeen = (version: string, outcome = 'null') =>
    `${outcome} as outcome, ${columns
      .map(([name, ...type]) => {
        const told: Readonly<Record<string, string>> = { now: `${schema}.now_ms()`, version }
        return `${told[`${name}`] ?? `null::${type.join(' ')}`} as ${name}`
      })
      .join(', ')}`
  /** What `call` has written; then the operation $7 begins with the steps $8, and the notes $9 are written. */
  const writeMore = (call: string) => `with w as materialized (select * from ${schema}.${call}),
      copied as (insert into ${schema}.step (operation_id, name, state, doc, sealed)
        select $7, s.name, s.state, s.doc, s.sealed
        from w, jsonb_populate_recordset(null::${schema}.step, $8::jsonb) with ordinality s
        where w.outcome = 'written' order by s.ordinality),
      noted as materialized (select ${schema}.write_notes($9) from w where w.outcome = 'written' and $9 is not null)
      select *, (select count(*) from noted) as noted, ${transaction} from w`
  /** Not among the services and the platforms that two arrays of values name, from this number on. */
  const notLeftOut = (first: number) =>
    ` and coalesce(o.service_key, '') <> all ($${first}) and coalesce(o.platform_key, '') <> all ($${first + 1})`
  /** Both counts stop at a number of rows. */
  const backlog = (also = '') => `with ${clock} select clock.now,
        (select o.due_at from ${schema}.operation o
          where o.${active} and o.due_at <= (select now from clock)${also} order by o.due_at, o.seq limit 1) as due_since,
        (select count(*)::integer from (select 1 from ${schema}.operation o
          where o.${active} and o.due_at <= (select now from clock)${also} order by o.due_at, o.seq limit $1) due) as due,
        (select count(*)::integer from (select o.state from ${schema}.operation o
          where o.${active} and ${leased}${also} order by o.due_at, o.seq limit $1) leased
          where leased.state = 'running') as running
      from clock`
  // Locks and writes operation rows only, and waits for none: what somebody else has locked is not to be claimed now.
  // Fences are taken in the order of the claims. The rows of the first part are the newest; those that the last select
  // reads are as they were before, hence "not in"; "is not null" is always true and leads to the index.
  const claim = (also = '') => `with ${clock},
      due as materialized (
        select o.id, o.state from ${schema}.operation o
        where o.${active} and o.due_at <= (select now from clock)${also}
        order by o.due_at, o.seq limit $2 for no key update skip locked
      ),
      numbered as materialized (select due.id, due.state, nextval('${schema}.fence') as fence from due),
      leased as (
        update ${schema}.operation o
        set state = 'running', attempt = o.attempt + 1, losses = o.losses + case o.state when 'running' then 1 else 0 end,
          unclean = o.unclean or o.state = 'running', lease_owner = $1, lease_until = clock.now + $3,
          fence = numbered.fence, checkpoint_at = coalesce(o.checkpoint_at, clock.now)
        from numbered, clock where o.id = numbered.id
        returning o.*, numbered.state = 'running' as taken_over
      )
      select clock.now, ${transaction},
        (select o.due_at from ${schema}.operation o
          where o.${active} and o.due_at is not null and o.id not in (select id from due)${also}
          order by o.due_at, o.seq limit 1) as next_at,
        to_json(leased) as operation, leased.taken_over, to_json(i) as instance, to_json(b) as binding,
        i.xmin::text as instance_xmin, (${countLive(schema, 'leased.instance_id')}) as live,
        exists (select 1 from ${schema}.operation x
          where x.instance_id = leased.instance_id and x.binding_id is not null and x.${active}) as busy,
        (select json_agg(to_json(s) order by s.seq) from ${schema}.step s where s.operation_id = leased.id) as steps
      from clock left join leased on true
        left join ${schema}.instance i on i.id = leased.instance_id
        left join ${schema}.binding b on b.instance_id = leased.instance_id and b.id = leased.binding_id
      order by leased.fence`
  return {
    instance: `select to_json(i) as row from ${schema}.instance i where i.id = $1`,
    binding: `select to_json(b) as row from ${schema}.binding b where b.instance_id = $1 and b.id = $2`,
    bindings: `select to_json(b) as row from ${schema}.binding b
      where b.instance_id = $1 and b.phase <> 'deleted' order by b.seq`,
    claimants: `select i.doc from ${schema}.shared_claim c join ${schema}.instance i on i.id = c.instance_id
      where c.resource_key = $1 and i.observe_at is not null order by c.instance_id limit $2`,
    operation: `select to_json(o) as row from ${schema}.operation o where o.id = $1`,
    history: `select h.doc from ${schema}.history h where h.instance_id = $1 order by h.seq`,
    doneSteps: `select to_json(s) as row from ${schema}.step s where s.operation_id = $1 and s.state = 'done' order by s.seq`,
    /** Whose state a checkpoint of the operation replaces. */
    about: `select o.instance_id, o.binding_id from ${schema}.operation o where o.id = $1`,
    steps: `select to_json(s) as row from ${schema}.step s where s.operation_id = $1 order by s.seq`,
    dueForObservation: `with ${clock} select i.doc from ${schema}.instance i
      where i.observe_at <= (select now from clock) order by i.observe_at, i.seq limit $1`,
    dueForExpiry: `with ${clock} select b.doc from ${schema}.binding b
      where b.deleted_at is null and b.notice_at <= (select now from clock) order by b.notice_at, b.seq limit $1`,
    backlog: backlog(),
    backlogOfOthers: backlog(notLeftOut(2)),
    ping: 'select pg_is_in_recovery() as read_only',

    look: `select * from ${schema}.look($1, $2, $3)`,
    /** No row for a lease that is lost. */
    lookHeld: `select * from ${schema}.look_held($1, $2)`,
    write: `select *, ${transaction} from ${schema}.write($1, $2, $3, $4, $5, $6, true)`,
    writeMore: writeMore('write($1, $2, $3, $4, $5, $6, true)'),
    // The same, within what the platform may have.
    writeWithin: writeMore('write_within($10, $1, $2, $3, $4, $5, $6)'),
    // From one to the next by an index, and not by way of all instances.
    platforms: `with recursive found (platform) as (
        select min(platform) from ${schema}.instance where deleted_at is null
        union all
        select (select min(x.platform) from ${schema}.instance x where x.deleted_at is null and x.platform > found.platform)
          from found where found.platform is not null
      )
      select (select i.doc from ${schema}.instance i where i.deleted_at is null and i.platform = found.platform
        order by i.created_at limit 1) as doc
      from found where found.platform is not null`,
    platformUse: `select ${['instances', 'bindings', 'operations']
      .map(kind => `${schema}.platform_use('${kind}', $1, $2, null)::double precision as ${kind}`)
      .join(', ')}`,
    // What was decided and what steps have left, many at once, and what ends of operations are decided from. What was written is
    // told in one row for all of a part: the keys, those of decisions with their versions. What writes stands first, so that the
    // first row knows the transaction.
    gathered: `with w as materialized (select * from ${schema}.writes($2) where $2 is not null)
      select 'checkpoints' as part, null::double precision as key, ${transaction}, ${workMs} as work_ms, ${nothingSeen('c.fences')}
        from (select string_agg(fence::text, ' ') as fences from ${schema}.checkpoints($1) fence) c
        where $1 is not null and c.fences is not null
      union all select 'writes', null, ${transaction}, ${workMs}, ${nothingSeen('v.places', "'written'")}
        from (select string_agg(concat_ws(':', w.place, w.version), ' ') as places from w where w.outcome = 'written') v
        where $2 is not null and v.places is not null
      union all select 'write', w.place, ${transaction}, ${workMs}, w.outcome, ${seen('w')} from w where w.outcome <> 'written'
      union all select 'look', l.fence, ${transaction}, ${workMs}, null, ${seen('s')}
        from jsonb_to_recordset($3::jsonb) as l (id text, fence bigint)
          cross join lateral ${schema}.look_held(l.id, l.fence) s`,

    claim: claim(),
    claimOthers: claim(notLeftOut(4)),

    // Locks in the order of ids, as write() does: two that want the same rows wait for each other in one direction only.
    renew: `with ${clock},
      held as materialized (
        select o.id from unnest($1::text[], $2::bigint[]) as lease (id, fence)
          cross join clock join ${schema}.operation o on o.id = lease.id and o.fence = lease.fence
        where o.state = 'running' and o.lease_until > clock.now order by o.id for no key update of o
      )
      update ${schema}.operation o set lease_until = clock.now + $3 from held, clock where o.id = held.id
      returning o.id, o.fence::double precision as fence, ${transaction}`,
    checkpoint: `select ${schema}.checkpoint($1, $2, $3, $4, $5) as held, ${schema}.now_ms() as now, ${transaction}`,
    park: `select ${schema}.park($1, $2, $3, $4, $5) as held, ${transaction}`,
    handBack: `select ${schema}.hand_back($1, $2) as opened, ${transaction}`,

    // No row: the name is not to be had. The leases of the owner before are over with the same commit.
    takeName: `with ${clock},
      forgotten as (
        delete from ${schema}.replica r using clock
        where coalesce(r.seen_at, r.since) < clock.now - $4 and r.name >= '' and r.name <> $1
      ),
      taken as (
        insert into ${schema}.replica as r (name, owner, since, seen_at)
        select $1, $2, clock.now, clock.now from clock
        on conflict (name) do update set former = nullif(r.owner, excluded.owner), owner = excluded.owner,
          since = excluded.since, seen_at = excluded.seen_at
        where r.owner = excluded.owner or r.seen_at is null or r.seen_at + $3 <= excluded.seen_at
        returning r.former
      ),
      held as materialized (
        select o.id from ${schema}.operation o
        where o.${active} and ${leased} and o.state = 'running' and o.lease_owner = (select former from taken)
        order by o.id for no key update
      ),
      ended as (
        update ${schema}.operation o set lease_until = clock.now from held, clock where o.id = held.id
      ),
      chores as (
        update ${schema}.chore c set lease_until = least(c.lease_until, clock.now) from clock
        where c.name >= '' and c.owner = (select former from taken) and c.finished_at is null
      ),
      drained as materialized (
        select ${schema}.hand_back(old.id, old.fence) as opened
        from ${schema}.operation o join ${schema}.operation old on old.id = o.drains
        where o.${active} and ${leased} and o.state = 'queued' and old.lease_owner = (select former from taken)
      )
      select taken.former, (select count(*) from drained) as drained from taken`,
    nameHolder: `with ${clock} select clock.now, r.owner, r.since, r.seen_at
      from clock join ${schema}.replica r on r.name = $1`,
    renewName: `update ${schema}.replica r set seen_at = ${schema}.now_ms()
      where r.name = $1 and r.owner = $2 returning true as held`,
    releaseName: `update ${schema}.replica r set since = ${schema}.now_ms(), seen_at = null
      where r.name = $1 and r.owner = $2`,

    // Each chore counts its own fences, under its row's lock. No row: the chore is not to be had.
    takeChore: `with ${clock}
      insert into ${schema}.chore as c (name, due_at, owner, started_at, fence, lease_until)
      select $1, $2, $3, clock.now, 1, clock.now + $4 from clock where $2 <= clock.now
      on conflict (name) do update set due_at = excluded.due_at, owner = excluded.owner,
        started_at = excluded.started_at, fence = c.fence + 1, lease_until = excluded.lease_until,
        finished_at = null, result = null
      where (c.finished_at is not null and excluded.due_at > c.due_at)
        or (c.finished_at is null and excluded.due_at >= c.due_at and c.lease_until <= excluded.started_at)
      returning c.fence::double precision as fence`,
    renewChore: `with ${clock}
      update ${schema}.chore c set lease_until = clock.now + $3 from clock
      where c.name = $1 and c.fence = $2 and c.finished_at is null and c.lease_until > clock.now returning true as held`,
    finishChore: `update ${schema}.chore c set lease_until = null, finished_at = ${schema}.now_ms(), result = $3
      where c.name = $1 and c.fence = $2 and c.finished_at is null returning true as held`,
    /** One row for each; a single one without a name where there is none. */
    chores: `with ${clock}
      select clock.now, c.name, c.due_at, c.owner, c.started_at, c.fence::double precision as fence, c.lease_until,
        c.finished_at, c.result
      from clock left join ${schema}.chore c on c.name >= '' order by c.name`,
    note: `select to_json(n) as row from ${schema}.note n where n.kind = $1 and n.id = $2`,
    notes: `select to_json(n) as row from ${schema}.note n
      where n.kind = $1 and n.id > $2 and n.id >= $3 and n.id < $4 order by n.id limit $5`,
    writeNotes: `select ${schema}.write_notes($1) as written, ${transaction}`,
    forgetNotes: `with ${clock}
      delete from ${schema}.note n using (select x.kind, x.id from ${schema}.note x
        where x.expires_at <= (select now from clock) order by x.expires_at limit $1) old
      where n.kind = old.kind and n.id = old.id returning n.id`,
    putBulletin: `with ${clock}, forgotten as (
        delete from ${schema}.bulletin n using clock where n.kind = $1 and n.key <> $2 and n.until <= clock.now
      )
      insert into ${schema}.bulletin as n (kind, key, at, until, doc)
      select $1, $2, clock.now, clock.now + $3, $4 from clock
      on conflict (kind, key) do update set at = excluded.at, until = excluded.until, doc = excluded.doc`,
    /** One row for each; a single one without a key where there is none. */
    bulletins: `with ${clock}
      select clock.now, n.kind, n.key, n.at, n.doc
      from clock left join ${schema}.bulletin n on n.kind = $1 and n.until > clock.now order by n.key`,
    cleanUp: `select ${schema}.clean_up($1, $2, $3, $4) as removed`,
    purge: `select ${schema}.purge($1, $2) as removed`,

    // One statement, so that all of it is of one version. The comparisons that are always true lead to the indexes.
    catalog: `with current as materialized (
        select c.version from ${schema}.catalog c where c.id = 1 and c.version is distinct from $1::integer
      )
      select version, 'version' as kind, null as doc from current
      union all select version, 'service', s.doc from current join ${schema}.service s on s.id >= ''
      union all select version, 'revision', r.doc from current join ${schema}.revision r on r.id >= ''`,
    registries: `with ${clock}
      select clock.now, c.changed_at, c.report, g.doc
      from clock join ${schema}.catalog c on c.id = 1 left join ${schema}.registry g on g.name >= ''`,
    revisionUses: `select i.revision_id, i.pinned_plan, count(*)::integer as instances from ${schema}.instance i
        where i.revision_id is not null group by i.revision_id, i.pinned_plan
      union all select i.next_revision_id, i.pinned_plan, count(*)::integer from ${schema}.instance i
        where i.next_revision_id is not null and i.next_revision_id is distinct from i.revision_id
        group by i.next_revision_id, i.pinned_plan`,
    /** A revision never changes. */
    insertRevisions: `with inserted as (
        insert into ${schema}.revision (id, service_id, doc)
        select r.id, r.service_id, r.doc from json_to_recordset($1::json) as r (id text, service_id text, doc text)
        on conflict (id) do nothing returning 1
      ) select count(*)::integer as inserted from inserted`,
    changeCatalog: `select * from ${schema}.change_catalog($1, $2, $3, $4, $5, $6, $7, $8, $9)`,

    lookShared: `select * from ${schema}.look_shared($1, $2, $3)`,
    share: `select *, ${transaction} from ${schema}.share($1, $2, $3, $4, $5, $6, $7)`,
  } as const
}
