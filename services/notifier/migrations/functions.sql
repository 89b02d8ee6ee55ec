-- The id of a code's mail. With the state in the same condition, PostgreSQL may read all queued mails for each one.
create or replace function mail_of(code text) returns text language sql stable as $$
  select id from deliveries where kind = 'mail' and code_id = code
$$;

-- What the mail is for that an event asks for, as far as the event says.
create or replace function mail_kind_of(event_type text) returns text language sql immutable as $$
  select case event_type
    when 'roster.user.password.code.requested.v1' then 'password-reset'
    when 'roster.user.email.notice.requested.v1' then 'email-changed'
    else 'email-code'
  end
$$;

-- The fields of users' events that identify a user. A test compares them with proto/.
create or replace function personal_fields() returns text[] language sql immutable as $$
  select '{userName,profile,email,firstName,lastName,nickName,displayName,preferredLanguage,gender,name,description,
    urlTemplate,failure,credentialId,publicKey,userHandle,issuer,subject}'::text[]
$$;

-- Takes from the kept and the waiting deliveries of users what identifies them. The deliveries stay, so a receiver
-- that was away still gets every event in its order.
create or replace function forget_users(ids text[]) returns void language sql as $$
  update deliveries set payload = (
    jsonb_set(payload::jsonb, '{data}', (payload::jsonb -> 'data') - personal_fields())
      || '{"dataOmitted": "forgotten"}'
  )::text
  where kind = 'webhook' and payload::jsonb -> 'data' ?| personal_fields()
    and aggregate = any(array(
      select type || '/' || id
      from unnest(ids) id, unnest('{user,user.email.code,user.email.notice,user.password.code,user.signin,user.signin.code}'::text[]) type
    ));
  update mail_bounces b set reason = '' from deliveries d
  where d.mail_kind is not null and d.user_id = any(ids) and b.code_id = d.code_id and b.reason <> '';
  -- The row of a mail stays for the numbers of its organization, and is no one's any more.
  update deliveries set user_id = '', reply = null where mail_kind is not null and user_id = any(ids)
$$;

-- Notes what became of tries to mail.
--   reports: [{code_id, state, of_recorded, organization_id, user_id, mail_kind, expires_at, tries, error, reply, retry_at}], each code
--            once; state: queued, sent, failed or superseded
--            of_recorded: without effect where the mail has no row yet
--            error, reply, retry_at: missing where they stay
-- A report may come before or after the events of the mail, and alone for a mail that has none.
create or replace function report_mails(reports jsonb) returns void language sql as $$
  insert into deliveries as d (
    id, kind, state, organization_id, event_id, event_type, user_id, code_id, mail_kind, expires_at, attempts, error, reply,
    retry_at, queued_at, created_at, changed_at
  )
  select gen_random_uuid()::text, 'mail', r.state, r.organization_id, '', '', r.user_id, r.code_id, r.mail_kind, r.expires_at,
    r.tries, coalesce(r.error, ''), r.reply, r.retry_at, roster_now(), roster_now(), roster_now()
  from jsonb_to_recordset(reports) as r (
    code_id text, state text, of_recorded boolean, organization_id text, user_id text, mail_kind text, expires_at timestamptz,
    tries int, error text, reply text, retry_at timestamptz
  )
  where r.state <> 'superseded' and (not r.of_recorded or mail_of(r.code_id) is not null)
  -- In one order, so that two notifiers do not wait for each other.
  order by r.code_id
  on conflict (code_id) where kind = 'mail' do update set
    state = excluded.state,
    -- Only a try that reached the mail server knows what the mail turned out to be.
    mail_kind = case when excluded.reply is null then coalesce(d.mail_kind, excluded.mail_kind) else excluded.mail_kind end,
    attempts = greatest(d.attempts, excluded.attempts),
    error = case when excluded.error = '' and excluded.state = 'queued' then d.error else excluded.error end,
    -- Of an erased user nothing is kept.
    reply = case when d.user_id = excluded.user_id then coalesce(excluded.reply, d.reply) end,
    retry_at = coalesce(excluded.retry_at, d.retry_at), changed_at = roster_now()
  where d.state = 'queued' or excluded.state <> 'queued';

  -- Only events say that a mail which they asked for is superseded: a job that found nothing to do may be the second one
  -- of a mail that went out.
  update deliveries d set state = 'superseded', changed_at = roster_now()
  from jsonb_to_recordset(reports) as r (code_id text, state text)
  where r.state = 'superseded' and d.kind = 'mail' and d.code_id = r.code_id and d.state = 'queued' and d.event_id = ''
$$;

-- Notes that mails bounced. The first report of a mail counts.
--   bounces: [{code_id, status, reason}], each code once
-- Returns what became of each: bounced; again, where it was noted before; or unknown, where there is no such mail yet.
create or replace function report_bounces(bounces jsonb) returns table (code_id text, outcome text) language sql as $$
  with reported as (
    select r.code_id, r.status, r.reason, d.user_id
    from jsonb_to_recordset(bounces) as r (code_id text, status text, reason text)
    left join deliveries d on d.kind = 'mail' and d.code_id = r.code_id
  ), added as (
    insert into mail_bounces (code_id, bounced_at, status, reason)
    -- Of an erased user nothing is kept. A mail about no user looks the same.
    select r.code_id, roster_now(), r.status, case when r.user_id = '' then '' else r.reason end
    from reported r
    order by r.code_id
    on conflict do nothing
    returning mail_bounces.code_id
  )
  select r.code_id, case
    when r.user_id is null then 'unknown'
    when exists (select from added a where a.code_id = r.code_id) then 'bounced'
    else 'again'
  end
  from reported r
$$;

-- The delivery that is next in a chain. One index alone has this order: by conditions of equality PostgreSQL may read
-- all that waits for the webhook instead, if it has last seen the table with an empty queue. The upper bound keeps the
-- end of a chain from reading on through the entries of all that was sent.
create or replace function head_of_chain(of_webhook text, of_aggregate text) returns setof deliveries
language sql stable as $$
  select * from deliveries d
  where (d.webhook_id, d.aggregate) >= (of_webhook, of_aggregate) and (d.webhook_id, d.aggregate) <= (of_webhook, of_aggregate)
    and d.kind = 'webhook' and d.state = 'queued'
  order by d.webhook_id, d.aggregate, d.position limit 1
$$;

-- Takes in a page of a service's events, all of it or, where somebody else was faster, nothing.
--   was, now: { "transaction_id", "position" }: how far it was, null at first, and how far it is now
--   wanted: [{id, organization_id, event_id, event_type, user_id, aggregate, webhook_id, payload, created_at}] in their order
--   mails: [{what, drops, id, organization_id, event_id, event_type, user_id, code_id, failure, expires_at, at}] in their order;
--          what: requested, sent, failed, rejected, or dropped
--          drops: types of events whose mails to the user, if they still wait, are not to be sent any more
--          A row of `dropped` has no id, organization_id, event_id and code_id.
--          forget_at: of a removal that can be undone until then
-- Returns the webhooks that there is something for; null where nothing was taken in.
create or replace function take_in(of_service text, was jsonb, is_now jsonb, wanted jsonb, mails jsonb, most_wrong_tries int)
returns text[] language plpgsql as $$
declare
  mail record;
  woken text[];
  asking text[];
begin
  if was is null then
    insert into cursors (service, transaction_id, position)
    values (of_service, (is_now ->> 'transaction_id')::xid8, (is_now ->> 'position')::bigint)
    on conflict do nothing;
  else
    update cursors
    set transaction_id = (is_now ->> 'transaction_id')::xid8, position = (is_now ->> 'position')::bigint
    where service = of_service
      and transaction_id = (was ->> 'transaction_id')::xid8 and position = (was ->> 'position')::bigint;
  end if;
  if not found then
    return null;
  end if;

  with added as (
    insert into deliveries (
      id, kind, state, organization_id, event_id, event_type, user_id, aggregate, webhook_id, payload,
      queued_at, created_at, changed_at
    )
    select id, 'webhook', 'queued', organization_id, event_id, event_type, user_id, aggregate, webhook_id, payload,
      roster_now(), roster_now(), roster_now()
    from rows from (
      jsonb_to_recordset(wanted) as (
        id text, organization_id text, event_id text, event_type text, user_id text, aggregate text, webhook_id text, payload text
      )
    ) with ordinality as w
    order by ordinality
    on conflict do nothing
    returning webhook_id, aggregate
  ), chained as (
    insert into chains (webhook_id, aggregate, due_at)
    select distinct webhook_id, aggregate, roster_now() from added
    order by webhook_id, aggregate
    -- Its time stays: somebody may have taken it.
    on conflict (webhook_id, aggregate) do update set added = chains.added + 1
    returning webhook_id
  )
  select coalesce(array_agg(distinct webhook_id), '{}') into woken from chained;

  -- Most changes of users drop nothing, because no mail waits.
  asking := array(
    select m.user_id from jsonb_to_recordset(mails) as m (what text, user_id text) where m.what = 'requested'
  );
  for mail in
    select m.*
    from rows from (
      jsonb_to_recordset(mails) as (
        what text, drops text[], id text, organization_id text, event_id text, event_type text, user_id text, code_id text,
        failure text, expires_at timestamptz, at timestamptz
      )
    ) with ordinality as m
    left join lateral (
      select true as there from deliveries d
      where d.kind = 'mail' and d.state = 'queued' and d.user_id = m.user_id
      limit 1
    ) waiting on m.what = 'dropped'
    where m.what <> 'dropped' or waiting.there or m.user_id = any(asking)
    order by ordinality
  loop
    if mail.what in ('requested', 'dropped') then
      update deliveries set state = 'superseded', changed_at = mail.at
      where kind = 'mail' and state = 'queued' and user_id = mail.user_id
        and event_type = any(mail.drops);
    end if;
    if mail.what = 'requested' then
      insert into deliveries (
        id, kind, state, organization_id, event_id, event_type, user_id, code_id, mail_kind, expires_at, queued_at, created_at,
        changed_at
      )
      values (
        mail.id, 'mail', 'queued', mail.organization_id, mail.event_id, mail.event_type, mail.user_id, mail.code_id,
        mail_kind_of(mail.event_type), mail.expires_at, mail.at, mail.at, mail.at
      )
      -- The mail may have been tried before its event is read: `report_mails`.
      on conflict (code_id) where kind = 'mail' do update
      set event_id = excluded.event_id, event_type = excluded.event_type, created_at = excluded.created_at
      where deliveries.event_id = '';
    elsif mail.what in ('sent', 'failed') then
      update deliveries
      set state = mail.what, error = coalesce(mail.failure, ''), attempts = greatest(attempts, 1), changed_at = mail.at
      where id = mail_of(mail.code_id) and state = 'queued';
    elsif mail.what = 'rejected' then
      update deliveries
      set wrong_tries = wrong_tries + 1, changed_at = mail.at,
        state = case when wrong_tries + 1 >= most_wrong_tries then 'superseded' else state end
      where id = mail_of(mail.code_id) and state = 'queued';
    end if;
  end loop;

  -- Another service must not speak for users.
  if of_service = 'users' then
    perform forget_users(array(
      select m.user_id from jsonb_to_recordset(mails) as m (event_type text, user_id text, forget_at text)
      where m.event_type in ('roster.user.removed.v1', 'roster.user.forgotten.v1') and m.forget_at is null
    ));
  end if;
  return woken;
end
$$;

-- Takes what is due to webhooks, fairly: who has the fewest places comes first, and of those, who waited longest.
--   ids: the webhooks to look at
--   of_place: for each of them, the most chains that one place takes, to send them one after the other
--   most, most_slow: places that whoever takes has, and how many of these are for webhooks that are not quick
--   of_organization, of_organization_slow, of_webhook: most that one may have of all places; a slow webhook has one
--   taken_for: seconds after which somebody else may take it
-- Returns what was taken, with the head of each chain, and the place as `taken_by`; and alone the ids, `aggregate` being null, of webhooks that must
-- wait.
create or replace function take_batches(
  ids text[], of_place int[], most int, most_slow int, of_organization int, of_organization_slow int, of_webhook int,
  taken_for double precision
)
returns table (
  webhook_id text, organization_id text, aggregate text, taken_by text, added int, url text, timeouts int, slow boolean, secrets bytea[],
  "position" bigint, event_id text, payload text, attempts int, queued_at timestamptz, due_at timestamptz
-- It joins what it made itself, which no index helps with; nothing large is sorted, and nothing is worth being compiled or
-- planned at each look.
) language plpgsql set enable_hashjoin = on set enable_sort = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  at timestamptz;
  until_then timestamptz;
  one record;
  -- Of one webhook.
  due_rows tid[];
  due_aggregates text[];
  due_since timestamptz[];
  place_ids text[];
  -- Of each chain.
  taken jsonb := '[]';
  waiting text[] := '{}';
begin
  -- One after the other, so that the counts are right.
  perform pg_advisory_xact_lock(hashtextextended(current_schema(), 1952804718));
  at := roster_moment();
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
    -- Not by a join, as PostgreSQL may read all that is due to the webhook for one.
    select array_agg(f.ctid), array_agg(f.aggregate), array_agg(f.due_at) into due_rows, due_aggregates, due_since
    from (
      select c.ctid, c.aggregate, c.due_at from chains c
      where c.webhook_id = one.webhook_id and c.due_at <= at
      order by c.due_at limit one.wanted * of_place[array_position(ids, one.webhook_id)]
      for update skip locked
    ) f;
    place_ids := array(select gen_random_uuid()::text from generate_series(1, one.wanted));
    with leased as (
      -- In turn, so that no place is empty while another has several.
      update chains c set due_at = until_then, taken_by = place_ids[1 + (array_position(due_aggregates, c.aggregate) - 1) % one.wanted]
      where c.ctid = any(due_rows)
      returning c.aggregate, c.added, c.taken_by as place_id, due_since[array_position(due_aggregates, c.aggregate)] as due_at
    ), placed as (
      insert into places (place_id, organization_id, webhook_id, aggregate, slow, until)
      select l.place_id, one.organization_id, one.webhook_id, min(l.aggregate), one.slow, until_then
      from leased l group by l.place_id
    )
    select taken || coalesce(
      jsonb_agg(jsonb_build_object(
        'webhook_id', one.webhook_id, 'organization_id', one.organization_id, 'aggregate', l.aggregate, 'place_id', l.place_id, 'added', l.added, 'slow', one.slow,
        'due_at', l.due_at
      )), '[]'
    ) into taken from leased l;
  end loop;

  insert into turns as t (organization_id, turn_at)
  select distinct x.organization_id, at from jsonb_to_recordset(taken) as x (organization_id text)
  order by 1
  on conflict (organization_id) do update set turn_at = at;

  return query
  select w.webhook_id, w.organization_id, x.aggregate, x.place_id, x.added, w.url, w.timeouts, x.slow,
    array(
      select s.sealed from webhook_secrets s
      where s.webhook_id = w.webhook_id and (s.expires_at is null or s.expires_at > at)
      order by s.expires_at desc nulls first
    ),
    head.position, head.event_id, head.payload, head.attempts, head.queued_at, x.due_at
  from jsonb_to_recordset(taken) as x (
    webhook_id text, aggregate text, place_id text, added int, slow boolean, due_at timestamptz
  )
  join webhooks w on w.webhook_id = x.webhook_id
  left join lateral head_of_chain(x.webhook_id, x.aggregate) head on true
  order by x.due_at;

  return query
  select id, w.organization_id, null::text, null::text, null::int, null::text, null::int, null::boolean, null::bytea[],
    null::bigint, null::text, null::text, null::int, null::timestamptz, null::timestamptz
  from unnest(waiting) id join webhooks w on w.webhook_id = id;
end
$$;

-- The same with one chain for each place: the former release calls it.
create or replace function take_chains(
  ids text[], most int, most_slow int, of_organization int, of_organization_slow int, of_webhook int, taken_for double precision
)
returns table (
  webhook_id text, organization_id text, aggregate text, taken_by text, added int, url text, timeouts int, slow boolean, secrets bytea[],
  "position" bigint, event_id text, payload text, attempts int, queued_at timestamptz
) language sql as $$
  select t.webhook_id, t.organization_id, t.aggregate, t.taken_by, t.added, t.url, t.timeouts, t.slow, t.secrets,
    t.position, t.event_id, t.payload, t.attempts, t.queued_at
  from take_batches(
    ids, array_fill(1, array[cardinality(ids)]), most, most_slow, of_organization, of_organization_slow, of_webhook, taken_for
  ) t
$$;

-- Records a try and gives its chain back, or removes it where nothing follows. Has no effect on them if another worker
-- has the chain, or the webhook a new address.
--   becomes: sent, failed, or queued for another try
--   delay: seconds until the chain goes on
--   rest: seconds until the next try of all that is due to the webhook, or null
--   frees: whether this was the last try of the place
--   held_for: seconds for which an organization of a quick webhook that was not quick now has one place for those
create or replace function settle_try(
  of_webhook text, of_aggregate text, place text, sent_to text, of_position bigint, becomes text, why text,
  delay double precision, is_quick boolean, timeouts_now int, rest double precision, frees boolean, held_for double precision
) returns void language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  has_chain boolean;
begin
  -- From here on nothing is added to the chain, and the statements below see all that was.
  perform from chains c
  where c.webhook_id = of_webhook and c.aggregate = of_aggregate and c.taken_by = place
  for update;
  has_chain := found and not exists (select from webhooks w where w.webhook_id = of_webhook and w.url <> sent_to);
  if frees then
    with freed as (
      delete from places p where p.place_id = place returning p.organization_id, p.slow
    )
    update turns t set held_until = roster_now() + make_interval(secs => held_for)
    from freed where t.organization_id = freed.organization_id and not freed.slow and not is_quick;
  end if;
  if not has_chain then
    return;
  end if;
  update webhooks w set quick = is_quick, timeouts = timeouts_now, retry_at = roster_now() + make_interval(secs => rest)
  where w.webhook_id = of_webhook and w.url = sent_to and (w.quick, w.timeouts) is distinct from (is_quick, timeouts_now);
  update deliveries d set state = becomes, error = why, attempts = d.attempts + 1, changed_at = roster_now()
  where d.position = of_position and d.state = 'queued';
  if becomes <> 'queued' then
    delete from chains c
    where c.webhook_id = of_webhook and c.aggregate = of_aggregate
      and not exists (select from head_of_chain(of_webhook, of_aggregate));
    if found then
      return;
    end if;
  end if;
  update chains c set taken_by = '', due_at = roster_now() + make_interval(secs => delay)
  where c.webhook_id = of_webhook and c.aggregate = of_aggregate;
end
$$;
