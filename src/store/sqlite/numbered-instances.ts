/**
 * Instances are numbered in the order in which they come. What belongs to one is found by its number: by its id, which comes from
 * outside in no order, every new row would go into another page of each index. A history outlives its instance, and is found by
 * the id from then on.
 *
 * What operations and acts are listed by is written with them: a column that is generated is computed anew in every write of its
 * row.
 */
export const numberedInstances = `
  drop trigger instance_went_on;
  drop trigger binding_went_on;

  create table instance_numbered (
    number integer primary key,
    id text not null unique,
    observe_at integer,
    phase text not null,
    last_operation_id text not null,
    unclean_until integer,
    deleted_at integer,
    revision_id text,
    next_revision_id text,
    pinned_plan text,
    created_at integer not null,
    platform text not null,
    service_id text not null,
    plan_id text not null,
    usable integer not null,
    doc text not null,
    sealed text not null
  );
  insert into instance_numbered select rowid, id, observe_at, phase, last_operation_id, unclean_until, deleted_at, revision_id,
    next_revision_id, pinned_plan, created_at, platform, service_id, plan_id, usable, doc, sealed from instance order by rowid;
  drop table instance;
  alter table instance_numbered rename to instance;
  create index instance_observe on instance (observe_at) where observe_at is not null;
  create index instance_deleted on instance (deleted_at) where deleted_at is not null;
  create index instance_revision on instance (revision_id, created_at, id, pinned_plan) where revision_id is not null;
  create index instance_next_revision on instance (next_revision_id, pinned_plan, revision_id)
    where next_revision_id is not null;
  create index instance_list on instance (created_at, id) where deleted_at is null;
  create index instance_list_service on instance (service_id, created_at, id) where deleted_at is null;
  create index instance_list_plan on instance (plan_id, created_at, id) where deleted_at is null;
  create index instance_list_platform on instance (platform, created_at, id) where deleted_at is null;
  create index instance_list_phase on instance (phase, created_at, id) where phase <> 'ready';
  create index instance_list_unusable on instance (created_at, id) where deleted_at is null and not usable;
  create index instance_survey on instance (phase, service_id, plan_id, usable) where phase = 'ready';

  create table operation_numbered (
    id text not null primary key,
    instance_id text not null,
    instance_number integer not null references instance (number),
    binding_id text,
    state text not null,
    attempt integer not null,
    losses integer not null,
    not_before integer not null,
    lease_owner text,
    lease_until integer,
    fence integer not null,
    drains text,
    unclean integer not null,
    checkpoint_at integer,
    description text,
    finished_at integer,
    spent_at integer,
    accepted_at integer not null,
    action text not null,
    service_key text,
    plan_key text,
    platform_key text,
    failed_step text,
    fingerprint text,
    doc text not null,
    sealed text not null,
    due_at integer generated always as (
      case state when 'queued' then not_before when 'running' then ifnull(lease_until, 0) end
    ) virtual
  );
  insert into operation_numbered select o.id, o.instance_id, i.number, o.binding_id, o.state, o.attempt, o.losses,
    o.not_before, o.lease_owner, o.lease_until, o.fence, o.drains, o.unclean, o.checkpoint_at, o.description, o.finished_at,
    o.spent_at, o.accepted_at, o.action, o.service_key, o.plan_key, o.platform_key, o.failed_step, o.fingerprint, o.doc,
    o.sealed from operation o join instance i on i.id = o.instance_id order by o.rowid;
  drop table operation;
  alter table operation_numbered rename to operation;
  create unique index operation_one_active on operation (instance_number, ifnull(binding_id, ''))
    where state in ('queued', 'running');
  create index operation_due on operation (due_at) where state in ('queued', 'running');
  create index operation_drains on operation (drains) where drains is not null;
  create index operation_spent on operation ((binding_id is null), state, spent_at) where spent_at is not null;
  create index operation_by_instance on operation (instance_number, accepted_at, id);
  create index operation_list on operation (accepted_at, id);
  create index operation_list_finished on operation (finished_at, id) where finished_at is not null;
  create index operation_list_failed on operation (state, accepted_at, id) where state in ('failed', 'superseded');
  create index operation_list_failed_finished on operation (state, finished_at, id)
    where state in ('failed', 'superseded');
  create index operation_list_service on operation (service_key, accepted_at, id) where finished_at is not null;
  create index operation_list_plan on operation (plan_key, accepted_at, id) where finished_at is not null;
  create index operation_list_platform on operation (platform_key, accepted_at, id) where finished_at is not null;
  create index operation_list_action on operation (action, accepted_at, id) where finished_at is not null;
  create index operation_list_step on operation (failed_step, accepted_at, id) where state = 'failed';
  create index operation_list_error on operation (fingerprint, accepted_at, id) where state = 'failed';

  drop index history_by_instance;
  drop index history_acted;
  drop index history_acted_by;
  drop index history_acted_verb;
  alter table history drop column acted_at;
  alter table history drop column acted_by;
  alter table history drop column acted_verb;
  alter table history add column instance_number integer;
  alter table history add column acted_at integer;
  alter table history add column acted_by text;
  alter table history add column acted_verb text;
  update history set acted_at = json_extract(doc, '$.at'), acted_by = json_extract(doc, '$.by'),
    acted_verb = json_extract(doc, '$.verb') where json_extract(doc, '$.type') = 'acted';
  update history set instance_number = (select number from instance where id = history.instance_id);
  create index history_by_instance on history (instance_number) where instance_number is not null;
  create index history_by_instance_id on history (instance_id) where instance_number is null;
  create index history_acted on history (acted_at, seq) where acted_at is not null;
  create index history_acted_by on history (acted_by, acted_at, seq) where acted_at is not null;
  create index history_acted_verb on history (acted_verb, acted_at, seq) where acted_at is not null;

  create trigger instance_went_on after update of last_operation_id, phase on instance
    when old.last_operation_id <> new.last_operation_id or new.phase = 'deleted'
  begin
    update operation set spent_at = finished_at where id = old.last_operation_id and spent_at is not finished_at;
  end;
  create trigger binding_went_on after update of last_operation_id, phase on binding
    when old.last_operation_id <> new.last_operation_id or new.phase = 'deleted'
  begin
    update operation set spent_at = finished_at where id = old.last_operation_id and spent_at is not finished_at;
  end;
  create trigger instance_removed after delete on instance
  begin
    update history set instance_number = null where instance_number = old.number;
  end;
`
