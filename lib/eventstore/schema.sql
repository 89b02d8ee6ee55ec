-- The truth: what happened, in the order of each aggregate.
create table events (
  position bigint generated always as identity primary key,
  -- Commit order over all aggregates is (transaction_id, position), read below the oldest running transaction.
  transaction_id xid8 not null default pg_current_xact_id(),
  aggregate_type text not null,
  aggregate_id text not null,
  -- From 1, without a gap.
  sequence bigint not null,
  type text not null,
  payload jsonb not null,
  organization_id text not null,
  -- The user who caused it.
  creator text not null,
  request_id text not null,
  created_at timestamptz not null,
  unique (aggregate_type, aggregate_id, sequence)
);

create index events_in_commit_order on events (transaction_id, position);

-- Each aggregate after its last event: the fold of its events, so that no decision and no read has to fold them again.
create table aggregates (
  type text not null,
  id text not null,
  organization_id text not null,
  sequence bigint not null,
  created_at timestamptz not null,
  changed_at timestamptz not null,
  state jsonb not null,
  primary key (type, id)
) with (fillfactor = 70);

-- What may exist once, such as a user name in its organization.
create table unique_keys (
  kind text not null,
  scope text not null,
  key text not null,
  aggregate_id text not null,
  primary key (kind, scope, key)
);

create index unique_keys_by_key on unique_keys (kind, key);

-- What keyed requests were answered, sealed, in the transaction of their effect.
create table idempotent_answers (
  -- A hash of caller, method and Idempotency-Key.
  id bytea primary key,
  -- The encryption key that `request` was made with.
  key_id text not null,
  -- A MAC of the request: the same key with another one is refused.
  request bytea not null,
  answer bytea not null,
  -- Whether the answer is an error.
  failed boolean not null,
  created_at timestamptz not null default now()
);

create index idempotent_answers_by_age on idempotent_answers (created_at);

-- How far the events are published, and into which stream: so that one that was lost or cut back is noticed.
create table published (
  only_row boolean primary key default true check (only_row),
  transaction_id xid8 not null,
  position bigint not null,
  -- When the stream was made; empty before the first look at it.
  stream_created text not null default '',
  -- The last event's place in the stream; null where that stream was given none yet.
  stream_sequence bigint,
  published_at timestamptz not null default now(),
  -- How often events had to be published anew.
  generation int not null default 0
);

insert into published (transaction_id, position) values ('0', 0);

-- Appends what a batch of commands decided, all of it or nothing.
--   batch: { "reads": [{type, id, sequence}], "writes": [{type, id, sequence}]: what the decisions stood on, sequence 0 for none;
--            "releases": [{kind, scope, key}],
--            "claims": [{kind, scope, key, aggregate_id}]: must be free, and aggregate_id, where there is one, has it from now on;
--            "events": [a row of events], "aggregates": [a row of aggregates] }
-- Raises RS001 with a detail { "stale": [{type, id}], "taken": [{kind, scope, key}] } where it cannot stand.
create function append(batch jsonb) returns void language plpgsql as $$
declare
  stale jsonb;
  taken jsonb;
begin
  -- What is not there cannot be locked itself: who creates it waits for all who stand on its absence, and they for him.
  perform case when created then pg_advisory_xact_lock(key) else pg_advisory_xact_lock_shared(key) end
  from (
    select hashtextextended(concat_ws('/', current_schema(), type, id), 0) as key, bool_or(created) as created
    from (
      select type, id, true as created from jsonb_to_recordset(batch -> 'writes') as e (type text, id text, sequence bigint)
      where sequence = 0
      union all
      select type, id, false from jsonb_to_recordset(batch -> 'reads') as e (type text, id text, sequence bigint)
      where sequence = 0
    ) missing
    group by 1 order by 1
  ) keys;

  -- In one order, so that two batches cannot wait for each other.
  with expected as (
    select * from jsonb_to_recordset(batch -> 'writes') as e (type text, id text, sequence bigint)
  ), locked as (
    select a.type, a.id, a.sequence from aggregates a join expected e using (type, id) order by a.type, a.id for update of a
  )
  select jsonb_agg(jsonb_build_object('type', e.type, 'id', e.id)) into stale
  from expected e left join locked l using (type, id)
  where coalesce(l.sequence, 0) <> e.sequence;

  if jsonb_array_length(batch -> 'reads') > 0 then
    with expected as (
      select * from jsonb_to_recordset(batch -> 'reads') as e (type text, id text, sequence bigint)
    ), locked as (
      select a.type, a.id, a.sequence from aggregates a join expected e using (type, id) order by a.type, a.id for share of a
    )
    select nullif(coalesce(stale, '[]') || coalesce(jsonb_agg(jsonb_build_object('type', e.type, 'id', e.id)), '[]'), '[]') into stale
    from expected e left join locked l using (type, id)
    where coalesce(l.sequence, 0) <> e.sequence;
  end if;

  if jsonb_array_length(batch -> 'releases') > 0 then
    delete from unique_keys k
    using jsonb_to_recordset(batch -> 'releases') as r (kind text, scope text, key text)
    where k.kind = r.kind and k.scope = r.scope and k.key = r.key;
  end if;

  if jsonb_array_length(batch -> 'claims') > 0 then
    select jsonb_agg(jsonb_build_object('kind', c.kind, 'scope', c.scope, 'key', c.key)) into taken
    from jsonb_to_recordset(batch -> 'claims') as c (kind text, scope text, key text)
    join unique_keys k using (kind, scope, key);
  end if;

  -- A key may be taken by what changed one of these aggregates after it was looked at above.
  if stale is null and taken is not null then
    select jsonb_agg(jsonb_build_object('type', e.type, 'id', e.id)) into stale
    from jsonb_to_recordset((batch -> 'writes') || (batch -> 'reads')) as e (type text, id text, sequence bigint)
    left join aggregates a using (type, id)
    where coalesce(a.sequence, 0) <> e.sequence;
  end if;

  if stale is not null or taken is not null then
    raise exception using errcode = 'RS001', message = 'the batch cannot stand',
      detail = jsonb_build_object('stale', coalesce(stale, '[]'), 'taken', coalesce(taken, '[]'));
  end if;

  if jsonb_array_length(batch -> 'claims') > 0 then
    insert into unique_keys (kind, scope, key, aggregate_id)
    select kind, scope, key, aggregate_id
    from jsonb_to_recordset(batch -> 'claims') as c (kind text, scope text, key text, aggregate_id text)
    where aggregate_id is not null
    order by kind, scope, key;
  end if;

  -- Before the aggregates: where two create the same one, the second stops here.
  insert into events (aggregate_type, aggregate_id, sequence, type, payload, organization_id, creator, request_id, created_at)
  select aggregate_type, aggregate_id, sequence, type, payload, organization_id, creator, request_id, created_at
  from rows from (
    jsonb_to_recordset(batch -> 'events') as (
      aggregate_type text, aggregate_id text, sequence bigint, type text, payload jsonb,
      organization_id text, creator text, request_id text, created_at timestamptz
    )
  ) with ordinality as e
  order by ordinality;

  insert into aggregates (type, id, organization_id, sequence, created_at, changed_at, state)
  select type, id, organization_id, sequence, created_at, changed_at, state
  from jsonb_to_recordset(batch -> 'aggregates') as a (
    type text, id text, organization_id text, sequence bigint, created_at timestamptz, changed_at timestamptz, state jsonb
  )
  on conflict (type, id) do update
  set sequence = excluded.sequence, changed_at = excluded.changed_at, state = excluded.state;

  -- The last guard: the events follow what was expected without a gap, and the state is that of the last one.
  if exists (
    select from (
      select aggregate_type as type, aggregate_id as id, min(sequence) as first, max(sequence) as last, count(*) as number
      from jsonb_to_recordset(batch -> 'events') as e (aggregate_type text, aggregate_id text, sequence bigint)
      group by 1, 2
    ) e
    full join jsonb_to_recordset(batch -> 'writes') as w (type text, id text, sequence bigint) using (type, id)
    full join jsonb_to_recordset(batch -> 'aggregates') as a (type text, id text, sequence bigint) using (type, id)
    where (e.first, e.last, a.sequence) is distinct from (w.sequence + 1, w.sequence + e.number, e.last)
  ) then
    raise exception 'the events of the batch leave a gap';
  end if;
end
$$;
