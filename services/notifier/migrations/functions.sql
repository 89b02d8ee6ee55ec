-- The id of a code's mail. With the state in the same condition, PostgreSQL may read all queued mails for each one.
create or replace function mail_of(code text) returns text language sql stable as $$
  select id from deliveries where kind = 'mail' and code_id = code
$$;

-- The fields of users' events that tell who a user is. A test compares them with proto/.
create or replace function personal_fields() returns text[] language sql immutable as $$
  select '{userName,profile,email,firstName,lastName,nickName,displayName,preferredLanguage,gender,name,description,
    urlTemplate,failure}'::text[]
$$;

-- Takes from the kept and the waiting deliveries of users what tells who they were. The deliveries stay, so a receiver
-- that was away still gets every event in its order.
create or replace function forget_users(ids text[]) returns void language sql as $$
  update deliveries set payload = (
    jsonb_set(payload::jsonb, '{data}', (payload::jsonb -> 'data') - personal_fields())
      || '{"dataOmitted": "forgotten"}'
  )::text
  where kind = 'webhook' and payload::jsonb -> 'data' ?| personal_fields()
    and aggregate = any(array(
      select type || '/' || id
      from unnest(ids) id, unnest('{user,user.email.code,user.email.notice,user.password.code}'::text[]) type
    ))
$$;

-- Takes in a page of a service's events, all of it or, where somebody else was faster, nothing.
--   was, now: { "transaction_id", "position" }: how far it was, null at first, and how far it is now
--   wanted: [{id, organization_id, event_id, event_type, user_id, aggregate, webhook_id, payload, created_at}] in their order
--   mails: [{what, drops, id, organization_id, event_id, event_type, user_id, code_id, failure, expires_at, at}] in their order;
--          what: requested, sent, failed, rejected, or dropped
--          drops: types of events whose mails to the user, if they still wait, are not to be sent any more
--          A row of `dropped` has no id, organization_id, event_id and code_id.
--          forget_at: of a removal that can be undone until then
-- Gives the webhooks that there is something for; null where nothing was taken in.
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
      now(), now(), now()
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
    select distinct webhook_id, aggregate, now() from added
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
        -- Notifiers of earlier versions know one kind of mail.
        and event_type = any(coalesce(mail.drops, '{roster.user.email.code.requested.v1}'));
    end if;
    if mail.what = 'requested' then
      insert into deliveries (
        id, kind, state, organization_id, event_id, event_type, user_id, code_id, expires_at, queued_at, created_at, changed_at
      )
      values (
        mail.id, 'mail', 'queued', mail.organization_id, mail.event_id, mail.event_type, mail.user_id, mail.code_id,
        mail.expires_at, mail.at, mail.at, mail.at
      )
      on conflict do nothing;
    elsif mail.what in ('sent', 'failed') then
      update deliveries
      set state = mail.what, error = coalesce(mail.failure, ''), attempts = attempts + 1, changed_at = mail.at
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
