-- The time, as of the beginning of the transaction. Tests shift it by another text, so nothing else may ask for the
-- time: .ci/clock.mjs looks. It is inlined, and costs no more than what it stands for.
create or replace function roster_now() returns timestamptz language sql stable parallel safe as $$
  select now()
$$;

-- The time of this moment, for what has waited for a lock.
create or replace function roster_moment() returns timestamptz language sql volatile parallel safe as $$
  select clock_timestamp() + (roster_now() - now())
$$;

-- Answers from before this time no longer count.
create or replace function answers_kept_since() returns timestamptz language sql stable as $$
  select roster_now() - interval '24 hours'
$$;

-- The place of this transaction in the order of events, over all histories. Begins the next history where the server is
-- another one than that of the last event.
create or replace function current_place() returns xid8 language plpgsql as $$
declare
  newest histories;
begin
  select * into newest from histories order by number desc limit 1;
  if newest.server_started <> pg_postmaster_start_time() then
    newest := begin_history(newest.number + 1);
  end if;
  return (newest.base + pg_current_xact_id()::text::bigint)::text::xid8;
end
$$;

-- Begins a history. Where two transactions do so, the second one gets a unique_violation, and is tried again.
-- It begins at the time: 2^21 places for each second since 2026. No server commits that many transactions, so what any
-- life of the database ever gave lies below, also a life that this one knows nothing of. Two lives never give one event
-- id twice. JSON's numbers are exact up to 2^53, which is the year 2162.
create or replace function begin_history(next int) returns histories language plpgsql as $$
declare
  start bigint := greatest(
    (extract(epoch from roster_moment() - timestamptz '2026-01-01 00:00:00+00') * (1 << 21))::bigint,
    -- Where the clock is behind: a second after the last event.
    (1 << 21) + (
      select transaction_id from events order by events.transaction_id desc, events.position desc limit 1
    )::text::bigint,
    (1 << 21) + (select max(position) from events)
  );
  begun histories;
begin
  insert into histories (number, server_started, base, first_position, began_at)
  values (next, pg_postmaster_start_time(), start - pg_current_xact_id()::text::bigint, start, roster_now())
  returning * into begun;
  perform setval(pg_get_serial_sequence('events', 'position'), start);
  return begun;
end
$$;

-- No event can appear below this place any more. While the server has none in the newest history, that holds for all.
create or replace function settled_below() returns xid8 language sql stable as $$
  select case
    when server_started <> pg_postmaster_start_time() then '9223372036854775807'
    else (base + pg_snapshot_xmin(pg_current_snapshot())::text::bigint)::text
  end::xid8
  from histories order by number desc limit 1
$$;

-- Appends the decisions of a batch, all of them or none.
--   changes: [{type, id, organization_id, expected, sequence, state, fold}]: rows of aggregates. `expected` is the sequence
--            that the decisions depend on, 0 for a missing aggregate.
--   happened: [a row of events]
--   moment: the time of them all.
--   rest: null where all is said, or else what `append_rest` takes. It must be there where an aggregate is created.
-- Raises RS001 where the batch cannot be stored. Its detail is
--   { "stale": [{type, id}], "taken": [{kind, scope, key}] }.
-- Where limits are reached, the detail also has "over": [{key, free, wait}]. Only `free` uses are left then, and the
-- next one is free after `wait` seconds. Rooms are there too. Where a key of "held" has no holder, the detail has
-- it in "freed". Raises unique_violation where a request was answered before.
create or replace function append(changes json, happened json, moment timestamptz, rest jsonb)
returns void language plpgsql as $$
declare
  place xid8 := current_place();
  changed_meanwhile jsonb;
  leaves_gap boolean;
begin
  if rest is not null then
    perform append_rest(changes, rest);
  end if;

  -- To read JSON costs more than to look up the rows. So one statement reads each part once.
  with change as materialized (
    -- Lock in one order, so that two batches cannot wait for each other.
    select * from json_to_recordset(changes) as c (
      type text, id text, organization_id text, expected bigint, sequence bigint, state jsonb, fold smallint
    )
    order by type, id
  ), stale as materialized (
    -- Look up each row by itself: a join of two lists without an index would compare each row with each.
    select c.type, c.id
    from change c left join lateral (
      select a.sequence from aggregates a where a.type = c.type and a.id = c.id for update
    ) locked on true
    where coalesce(locked.sequence, 0) <> c.expected
  ), stored as (
    insert into aggregates (type, id, organization_id, sequence, created_at, changed_at, state, fold)
    select type, id, organization_id, sequence, moment, moment, state, fold from change
    where not exists (select from stale)
    on conflict (type, id) do update
    set sequence = excluded.sequence, changed_at = excluded.changed_at, state = excluded.state,
      fold = excluded.fold
  ), event as materialized (
    select * from rows from (
      json_to_recordset(happened) as (
        aggregate_type text, aggregate_id text, sequence bigint, type text, payload jsonb,
        organization_id text, creator text, request_id text, cause text, traceparent text
      )
    ) with ordinality
  ), appended as (
    -- Where two transactions create the same aggregate, the second stops here.
    insert into events (
      transaction_id, aggregate_type, aggregate_id, sequence, type, payload, organization_id, creator, request_id, cause,
      traceparent, created_at
    )
    select place, aggregate_type, aggregate_id, sequence, type, payload, organization_id, creator, request_id, cause,
      traceparent, moment
    from event where not exists (select from stale)
    order by ordinality
  )
  select
    (select jsonb_agg(jsonb_build_object('type', type, 'id', id)) from stale),
    -- The last guard: the events follow the expected sequence without a gap, and the state is that of the last event.
    exists (
      select from (
        select type, id, expected, sequence, null::bigint as added from change
        union all
        select aggregate_type, aggregate_id, null, null, sequence from event
      ) both_lists
      group by type, id
      having (min(added), max(added), count(added)) is distinct from
        (max(expected) + 1, max(sequence), max(sequence) - max(expected))
    )
  into changed_meanwhile, leaves_gap;

  if changed_meanwhile is not null then
    raise exception using errcode = 'RS001', message = 'the batch cannot stand',
      detail = jsonb_build_object('stale', changed_meanwhile, 'taken', jsonb_build_array());
  end if;
  if leaves_gap then
    raise exception 'the events of the batch leave a gap';
  end if;
end
$$;

-- What a batch needs beside its changes and events. Checks it, and stores it.
--   rest: { "reads": [{type, id, sequence}]: the state that the decisions depend on beside that of `changes`,
--             with sequence 0 for a missing aggregate,
--           "releases": [{kind, scope, key}],
--           "held": [{kind, scope, key}]: keys that others must hold, because commands were refused for them,
--           "claims": [{kind, scope, key, aggregate_id}]: each key must be free; aggregate_id, if any, holds it then.
--           "uses": [{key, number, limits: [{most, seconds}]}]: `number` more uses of a key with limits,
--           "rooms": [{key, number, most, counted_by, counted_of}]: `number` more of a set that may have `most`. The
--             function `counted_by` gives its size, up to `most`, from `counted_of`,
--           "isBulk": true where a thousand locks of its new aggregates would be too many. No caller may depend on
--           their absence. Where two transactions create the same one, the second gets a unique_violation.
--           "subjects": [{id, wrapped}]: the keys of new people, in base64,
--           "forgotten": [id]: people whose keys are destroyed,
--           "commits": true where there must be a commit although nothing is stored,
--           "answers": [a row of idempotent_answers, bytes in base64] }
create or replace function append_rest(changes json, rest jsonb) returns void language plpgsql as $$
declare
  stale jsonb;
  taken jsonb;
  over jsonb;
  freed jsonb;
  room record;
  size int;
  moment timestamptz;
  stored int;
begin
  -- A missing row cannot be locked itself. So its creator waits for every transaction that depends on its absence, and
  -- they wait for the creator.
  perform case when created then pg_advisory_xact_lock(key) else pg_advisory_xact_lock_shared(key) end
  from (
    select hashtextextended(concat_ws('/', current_schema(), type, id), 0) as key, bool_or(created) as created
    from (
      select type, id, true as created from json_to_recordset(changes) as c (type text, id text, expected bigint)
      where expected = 0 and not coalesce((rest ->> 'isBulk')::boolean, false)
      union all
      select type, id, false from jsonb_to_recordset(rest -> 'reads') as e (type text, id text, sequence bigint)
      where sequence = 0
      union all
      -- Transactions that count by the same key also wait for each other, so that each sees the uses of the others.
      select 'use', key, true from jsonb_to_recordset(rest -> 'uses') as u (key text)
      union all
      select 'room', key, true from jsonb_to_recordset(rest -> 'rooms') as r (key text)
    ) missing
    group by 1 order by 1
  ) keys;

  -- Lock in one order, so that two batches cannot wait for each other. Look up each row by itself: a join of two lists
  -- without an index would compare each row with each.
  select jsonb_agg(jsonb_build_object('type', e.type, 'id', e.id)) into stale
  from (
    select * from json_to_recordset(changes) as c (type text, id text, expected bigint) order by type, id
  ) e left join lateral (
    select a.sequence from aggregates a where a.type = e.type and a.id = e.id for update
  ) locked on true
  where coalesce(locked.sequence, 0) <> e.expected;

  if jsonb_array_length(rest -> 'reads') > 0 then
    select nullif(coalesce(stale, '[]') || coalesce(jsonb_agg(jsonb_build_object('type', e.type, 'id', e.id)), '[]'), '[]') into stale
    from (
      select * from jsonb_to_recordset(rest -> 'reads') as e (type text, id text, sequence bigint) order by type, id
    ) e left join lateral (
      select a.sequence from aggregates a where a.type = e.type and a.id = e.id for share
    ) locked on true
    where coalesce(locked.sequence, 0) <> e.sequence;
  end if;

  if jsonb_array_length(rest -> 'held') > 0 then
    select jsonb_agg(distinct jsonb_build_object('kind', h.kind, 'scope', h.scope, 'key', h.key)) into freed
    from (
      select * from jsonb_to_recordset(rest -> 'held') as h (kind text, scope text, key text) order by kind, scope, key
    ) h left join lateral (
      select k.key as there from unique_keys k where k.kind = h.kind and k.scope = h.scope and k.key = h.key for share
    ) locked on true
    where there is null;
  end if;

  if jsonb_array_length(rest -> 'releases') > 0 then
    delete from unique_keys k
    using jsonb_to_recordset(rest -> 'releases') as r (kind text, scope text, key text)
    where k.kind = r.kind and k.scope = r.scope and k.key = r.key;
  end if;

  if jsonb_array_length(rest -> 'claims') > 0 then
    select jsonb_agg(jsonb_build_object('kind', c.kind, 'scope', c.scope, 'key', c.key)) into taken
    from jsonb_to_recordset(rest -> 'claims') as c (kind text, scope text, key text)
    join unique_keys k using (kind, scope, key);
  end if;

  if jsonb_array_length(rest -> 'uses') > 0 then
    -- Take the time from one clock, and under the lock, so that a later use never has an earlier time.
    moment := roster_moment();

    with wanted as (
      select u.key, u.number, l.most, make_interval(secs => l.seconds) as span
      from jsonb_to_recordset(rest -> 'uses') as u (key text, number int, limits jsonb),
        jsonb_to_recordset(u.limits) as l (most int, seconds int)
    ), counted as (
      select w.*, w.most - used.number as free
      from wanted w, lateral (
        select count(*) as number from (select from uses where key = w.key and used_at > moment - w.span limit w.most) recent
      ) used
    ), freest as (
      select c.*, min(c.free) over (partition by c.key) as free_at_all from counted c
    ), over_limit as (
      -- Once all that is free is used, the oldest of the last `most` uses must leave the window.
      select key, free_at_all as free, max(case when free > free_at_all then interval '0' when most = free then span else
        (select used_at from uses u where u.key = f.key order by used_at desc offset most - free - 1 limit 1) + span - moment
      end) as wait
      from freest f
      where number > free_at_all
      group by key, free_at_all
    )
    select jsonb_agg(jsonb_build_object('key', key, 'free', free, 'wait', extract(epoch from wait))) into over from over_limit;
  end if;

  for room in
    select * from jsonb_to_recordset(rest -> 'rooms') as r (key text, number int, most int, counted_by text, counted_of jsonb)
  loop
    execute format('select %I($1, $2)', room.counted_by) into size using room.counted_of, room.most;
    if size + room.number > room.most then
      over := coalesce(over, '[]') || jsonb_build_object('key', room.key, 'free', greatest(room.most - size, 0), 'wait', 0);
    end if;
  end loop;

  -- A change of one of these aggregates after the check above may have taken the key.
  if stale is null and taken is not null then
    select jsonb_agg(jsonb_build_object('type', e.type, 'id', e.id)) into stale
    from (
      select type, id, expected as sequence from json_to_recordset(changes) as c (type text, id text, expected bigint)
      union all
      select type, id, sequence from jsonb_to_recordset(rest -> 'reads') as e (type text, id text, sequence bigint)
    ) e
    left join aggregates a using (type, id)
    where coalesce(a.sequence, 0) <> e.sequence;
  end if;

  if stale is not null or taken is not null or over is not null or freed is not null then
    raise exception using errcode = 'RS001', message = 'the batch cannot stand',
      detail = jsonb_build_object('stale', coalesce(stale, '[]'), 'taken', coalesce(taken, '[]'))
        || case when over is null then '{}' else jsonb_build_object('over', over) end
        || case when freed is null then '{}' else jsonb_build_object('freed', freed) end;
  end if;

  if jsonb_array_length(rest -> 'claims') > 0 then
    -- Insert also keys that the batch gives up again. No other transaction must hold them meanwhile.
    insert into unique_keys (kind, scope, key, aggregate_id)
    select kind, scope, key, coalesce(aggregate_id, '')
    from jsonb_to_recordset(rest -> 'claims') as c (kind text, scope text, key text, aggregate_id text)
    order by kind, scope, key;

    if exists (select from first_key_kinds) then
      insert into first_keys (kind, key, scope)
      select distinct on (c.kind, c.key) c.kind, c.key, c.scope
      from jsonb_to_recordset(rest -> 'claims') as c (kind text, scope text, key text, aggregate_id text)
      join first_key_kinds using (kind)
      where c.aggregate_id is not null
      order by c.kind, c.key, c.scope
      on conflict do nothing;
    end if;

    delete from unique_keys k
    using jsonb_to_recordset(rest -> 'claims') as c (kind text, scope text, key text, aggregate_id text)
    where c.aggregate_id is null and k.kind = c.kind and k.scope = c.scope and k.key = c.key;
  end if;

  if jsonb_array_length(rest -> 'subjects') > 0 then
    insert into subject_keys (subject_id, wrapped, created_at)
    select id, decode(wrapped, 'base64'), roster_now() from jsonb_to_recordset(rest -> 'subjects') as s (id text, wrapped text);
  end if;
  if jsonb_array_length(rest -> 'forgotten') > 0 then
    delete from subject_keys where subject_id = any(array(select jsonb_array_elements_text(rest -> 'forgotten')));
  end if;

  if moment is not null then
    insert into uses (key, used_at)
    select key, moment from jsonb_to_recordset(rest -> 'uses') as u (key text, number int), generate_series(1, number);
  end if;

  -- A commit without any write does not wait for the disk. This message makes it wait, and leaves nothing behind.
  if (rest ->> 'commits')::boolean then
    perform pg_logical_emit_message(true, 'roster', '');
  end if;

  if jsonb_array_length(rest -> 'answers') > 0 then
    insert into idempotent_answers as earlier (id, key_id, request, answer, failed, created_at)
    select decode(id, 'base64'), key_id, decode(request, 'base64'), decode(answer, 'base64'), failed, roster_now()
    from jsonb_to_recordset(rest -> 'answers') as r (id text, key_id text, request text, answer text, failed boolean)
    order by id
    on conflict (id) do update
    set key_id = excluded.key_id, request = excluded.request, answer = excluded.answer, failed = excluded.failed,
      created_at = excluded.created_at
    where earlier.created_at <= answers_kept_since();
    get diagnostics stored = row_count;
    if stored < jsonb_array_length(rest -> 'answers') then
      raise unique_violation using message = 'a request of the batch was answered before';
    end if;
  end if;
end
$$;

-- Undoes what a statement did in a session that is not its connection's own, because a pooler shares sessions.
create or replace function foreign_session() returns text language plpgsql as $$
begin
  raise exception using errcode = 'RS002', message = 'the session is not the connection''s own';
end
$$;

-- Stops the audit chain before stored events are changed. Its pages go at once: hashes of what the events said before
-- must not outlive that.
create or replace function audit_hold() returns void language plpgsql as $$
begin
  update audit_chain set held = true;
  delete from audit_pages;
end
$$;

-- Begins the audit chain anew with the first event, after stored events were changed. The next checkpoint says why.
create or replace function audit_begin(why text) returns void language plpgsql as $$
begin
  update audit_chain
  set epoch = epoch + 1, reason = why, held = false, transaction_id = '0', position = 0, events = 0;
  delete from audit_pages;
end
$$;

-- Tells each of these organizations, by an event of its own, that the database lacks events of it that were published.
-- Begins the audit chain anew, because the stream has checkpoints of what is lost. The operator's command calls it, with
-- the rights of the service.
create or replace function announce_truncation(of_service text, organizations text[]) returns void
language plpgsql security definer as $$
declare
  changes json;
  happened json;
begin
  with one as (
    select o.id, coalesce(a.sequence, 0) as sequence, jsonb_build_object(
      'service', of_service,
      'lastPosition', coalesce((
        select position from events e
        where e.organization_id = o.id and position <= (p.ahead ->> 'lastPosition')::bigint
        order by e.transaction_id desc, e.position desc limit 1
      ), 0)::text,
      'noticedAt', p.ahead ->> 'since'
    ) as payload
    from unnest(organizations) o (id) left join aggregates a on a.type = 'history' and a.id = o.id, published p
    where not coalesce((p.ahead ->> 'isAnnounced')::boolean, true)
  )
  select
    json_agg(json_build_object(
      'type', 'history', 'id', id, 'organization_id', id, 'expected', sequence, 'sequence', sequence + 1, 'state', '{}'::json
    )),
    json_agg(json_build_object(
      'aggregate_type', 'history', 'aggregate_id', id, 'sequence', sequence + 1, 'type', 'truncated', 'payload', payload,
      'organization_id', id, 'creator', '', 'request_id', ''
    ))
  into changes, happened from one;
  if changes is null then
    return;
  end if;
  perform append(changes, happened, roster_now(), '{}');
  perform audit_begin('the database lost events that were published');
  update published set ahead = ahead || '{"isAnnounced": true}';
end
$$;
revoke execute on function announce_truncation(text, text[]) from public;

-- It runs with the rights of its owner. So no temporary table of the one who calls it may stand before these.
do $$
begin
  execute format('alter function announce_truncation(text, text[]) set search_path = %I, pg_temp', current_schema());
end
$$;
