-- How a webhook's receiver answered last. Who was not quick gets one try at a time, out of the places for those; who did not
-- answer in time is not tried again before `retry_at`.
alter table webhooks
  add column quick boolean not null default false,
  -- One after the other.
  add column timeouts int not null default 0,
  add column retry_at timestamptz;

-- The tries that are under way, whatever became of their chains and webhooks meanwhile: whose they are decides who is next.
create table places (
  -- As the chain's `taken_by`.
  place_id text primary key,
  organization_id text not null,
  webhook_id text not null,
  aggregate text not null,
  -- Whether the webhook was not quick before.
  slow boolean not null,
  -- When the one who took it is lost.
  until timestamptz not null
);

create index places_by_organization on places (organization_id, slow);
create index places_by_webhook on places (webhook_id);
create index places_until on places (until);

create table turns (
  organization_id text primary key,
  -- When something was sent for it last.
  turn_at timestamptz not null,
  -- A quick receiver of it stopped being quick: until then it has one place for those.
  held_until timestamptz
);

-- Takes what is due to webhooks, in turns: who has the fewest places comes first, and of those, who waited longest.
--   ids: the webhooks to look at
--   most, most_slow: places that whoever takes has, and how many of these are for webhooks that are not quick
--   of_organization, of_organization_slow, of_webhook: most that one may have of everybody's places; a slow webhook has one
--   taken_for: seconds after which somebody else may take it
-- Gives what was taken, with the head of each chain; and alone the ids, `aggregate` being null, of webhooks that must wait.
create function take_chains(
  ids text[], most int, most_slow int, of_organization int, of_organization_slow int, of_webhook int, taken_for double precision
)
returns table (
  webhook_id text, organization_id text, aggregate text, taken_by text, added int, url text, timeouts int, slow boolean, secrets bytea[],
  "position" bigint, event_id text, payload text, attempts int, queued_at timestamptz
-- It joins what it made itself, which no index helps with; nothing large is sorted, and nothing is worth being compiled.
) language plpgsql set enable_hashjoin = on set enable_sort = off set jit = off as $$
#variable_conflict use_column
declare
  at timestamptz;
  until_then timestamptz;
  one record;
  taken text[] := '{}';
  waiting text[] := '{}';
begin
  -- One after the other, so that the counts are right.
  perform pg_advisory_xact_lock(hashtextextended(current_schema(), 1952804718));
  at := clock_timestamp();
  until_then := at + make_interval(secs => taken_for);
  delete from places p where p.until <= at;
  for one in
    with due as (
      select w.webhook_id, w.organization_id, not w.quick as slow, heads.number, greatest(w.retry_at, heads.due_at) as since,
        case when w.quick then of_webhook else 1 end as lanes,
        (select count(*) from places p where p.webhook_id = w.webhook_id) as under_way
      from webhooks w
      cross join lateral (
        select count(*) as number, min(h.due_at) as due_at
        from (
          select c.due_at from chains c where c.webhook_id = w.webhook_id and c.due_at <= at order by c.due_at limit of_webhook
        ) h
      ) heads
      where w.webhook_id = any(ids) and w.active and heads.number > 0 and (w.retry_at is null or w.retry_at <= at)
    ), organizations as materialized (
      select o.organization_id, o.slow, t.turn_at,
        case when o.slow then of_organization_slow when t.held_until > at then 1 else of_organization end as places,
        (select count(*) from places p where p.organization_id = o.organization_id and p.slow = o.slow) as under_way
      from (select distinct d.organization_id, d.slow from due d) o
      left join turns t on t.organization_id = o.organization_id
    ), seats as (
      select d.webhook_id, d.slow, o.turn_at, o.places,
        o.under_way
          + row_number() over (partition by d.organization_id, d.slow order by d.under_way + n, d.since, d.webhook_id) as seat
      from due d
      join organizations o on o.organization_id = d.organization_id and o.slow = d.slow
      cross join lateral generate_series(1, least(d.lanes - d.under_way, d.number)) n
    ), allowed as (
      select s.*, row_number() over (partition by s.slow order by s.seat, s.turn_at nulls first) as place
      from seats s where s.seat <= s.places
    ), chosen as materialized (
      select a.webhook_id from allowed a
      where not a.slow or a.place <= most_slow
      order by a.seat, a.turn_at nulls first limit most
    )
    select d.webhook_id, d.organization_id, d.slow, coalesce(c.wanted, 0) as wanted
    from due d
    left join (select c.webhook_id, count(*) as wanted from chosen c group by c.webhook_id) c on c.webhook_id = d.webhook_id
  loop
    if one.wanted = 0 then
      waiting := waiting || one.webhook_id;
      continue;
    end if;
    with free as (
      select c.aggregate from chains c
      where c.webhook_id = one.webhook_id and c.due_at <= at
      order by c.due_at limit one.wanted
      for update skip locked
    ), leased as (
      update chains c set taken_by = gen_random_uuid()::text, due_at = until_then
      from free where c.webhook_id = one.webhook_id and c.aggregate = free.aggregate
      returning c.taken_by, c.aggregate
    ), placed as (
      insert into places (place_id, organization_id, webhook_id, aggregate, slow, until)
      select leased.taken_by, one.organization_id, one.webhook_id, leased.aggregate, one.slow, until_then from leased
      returning place_id
    )
    select taken || coalesce(array_agg(placed.place_id), '{}') into taken from placed;
  end loop;

  insert into turns as t (organization_id, turn_at)
  select distinct p.organization_id, at from places p where p.place_id = any(taken)
  order by 1
  on conflict (organization_id) do update set turn_at = at;

  return query
  select w.webhook_id, w.organization_id, c.aggregate, c.taken_by, c.added, w.url, w.timeouts, p.slow,
    array(
      select s.sealed from webhook_secrets s
      where s.webhook_id = w.webhook_id and (s.expires_at is null or s.expires_at > at)
      order by s.expires_at desc nulls first
    ),
    head.position, head.event_id, head.payload, head.attempts, head.queued_at
  from places p
  join chains c on c.webhook_id = p.webhook_id and c.aggregate = p.aggregate
  join webhooks w on w.webhook_id = p.webhook_id
  left join lateral (
    -- One index alone has this order, whatever the planner thinks of the tables.
    select d.webhook_id, d.aggregate, d.position, d.event_id, d.payload, d.attempts, d.queued_at from deliveries d
    where (d.webhook_id, d.aggregate) >= (p.webhook_id, p.aggregate) and d.kind = 'webhook' and d.state = 'queued'
    order by d.webhook_id, d.aggregate, d.position limit 1
  ) head on head.webhook_id = p.webhook_id and head.aggregate = p.aggregate
  where p.place_id = any(taken);

  return query
  select id, w.organization_id, null::text, null::text, null::int, null::text, null::int, null::boolean, null::bytea[],
    null::bigint, null::text, null::text, null::int, null::timestamptz
  from unnest(waiting) id join webhooks w on w.webhook_id = id;
end
$$;
