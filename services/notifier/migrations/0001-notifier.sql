-- The webhooks that there are, as the events say.
create table webhooks (
  webhook_id text primary key,
  organization_id text not null,
  all_organizations boolean not null,
  url text not null,
  -- Empty: every type.
  event_types text[] not null,
  active boolean not null,
  created_at timestamptz not null
);

create index webhooks_by_organization on webhooks (organization_id, created_at);

-- The secrets that they are signed with, sealed: no event holds them.
create table webhook_secrets (
  webhook_id text not null,
  secret_id text not null,
  sealed bytea not null,
  -- Until when it signs beside its successor; null for the one in use.
  expires_at timestamptz,
  primary key (webhook_id, secret_id)
);

-- How far the events of each service are taken in. It moves in the transaction that inserts what they ask for.
create table cursors (
  service text primary key,
  transaction_id xid8 not null,
  position bigint not null
);

-- Every mail and every event for a webhook, in the order in which they were asked for.
create table deliveries (
  position bigint generated always as identity primary key,
  id text not null unique,
  kind text not null check (kind in ('mail', 'webhook')),
  state text not null check (state in ('queued', 'sent', 'failed', 'superseded')),
  organization_id text not null,
  event_id text not null,
  event_type text not null,
  user_id text not null,
  -- Of an event: what it happened to. Events of one aggregate reach a webhook one after the other.
  aggregate text,
  webhook_id text,
  -- What is sent, the same bytes each time.
  payload text,
  -- Of a mail.
  code_id text,
  wrong_tries int not null default 0,
  -- Since it was queued last.
  attempts int not null default 0,
  error text not null default '',
  -- From when on the time runs after which it is given up; of a mail until when its code lives.
  queued_at timestamptz not null,
  expires_at timestamptz,
  created_at timestamptz not null,
  changed_at timestamptz not null,
  check ((kind = 'webhook') = (webhook_id is not null and aggregate is not null and payload is not null)),
  check ((kind = 'mail') = (code_id is not null and expires_at is not null))
);

-- The same event is for a webhook but once.
create unique index deliveries_of_event on deliveries (webhook_id, event_id) where kind = 'webhook';
create unique index deliveries_of_code on deliveries (code_id) where kind = 'mail';
create index deliveries_to_send on deliveries (webhook_id, aggregate, position) where kind = 'webhook' and state = 'queued';
create index deliveries_to_mail on deliveries (user_id) where kind = 'mail' and state = 'queued';
create index deliveries_by_organization on deliveries (organization_id, position);
create index deliveries_by_user on deliveries (organization_id, user_id, position);
create index deliveries_by_webhook on deliveries (webhook_id, state, position);
create index deliveries_settled on deliveries (changed_at) where state <> 'queued';

-- What is queued for a webhook of one aggregate. Whoever takes it sets `due_at` to when it may be taken from him, so that nobody
-- else sends meanwhile.
create table chains (
  webhook_id text not null,
  aggregate text not null,
  due_at timestamptz not null,
  -- Who took it last.
  taken_by text not null default '',
  -- Counts what was added, so that nobody removes a chain that was just added to.
  added int not null default 0,
  primary key (webhook_id, aggregate)
);

create index chains_due on chains (webhook_id, due_at);

-- Takes in a page of a service's events, all of it or, where somebody else was faster, nothing.
--   was, now: { "transaction_id", "position" }: how far it was, null at first, and how far it is now
--   wanted: [{id, organization_id, event_id, event_type, user_id, aggregate, webhook_id, payload, created_at}] in their order
--   mails: [{what, id, organization_id, event_id, event_type, user_id, code_id, failure, expires_at, at}] in their order;
--          what: requested, sent, failed, rejected, or dropped (whatever waits for the user is not to be sent any more)
-- Gives the webhooks that there is something for; null where nothing was taken in.
create function take_in(of_service text, was jsonb, is_now jsonb, wanted jsonb, mails jsonb, most_wrong_tries int)
returns text[] language plpgsql as $$
declare
  mail record;
  woken text[];
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

  for mail in
    select * from jsonb_to_recordset(mails) as m (
      what text, id text, organization_id text, event_id text, event_type text, user_id text, code_id text, failure text,
      expires_at timestamptz, at timestamptz
    )
  loop
    if mail.what in ('requested', 'dropped') then
      update deliveries set state = 'superseded', changed_at = mail.at
      where kind = 'mail' and state = 'queued' and user_id = mail.user_id;
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
      where kind = 'mail' and state = 'queued' and code_id = mail.code_id;
    elsif mail.what = 'rejected' then
      update deliveries
      set wrong_tries = wrong_tries + 1, changed_at = mail.at,
        state = case when wrong_tries + 1 >= most_wrong_tries then 'superseded' else state end
      where kind = 'mail' and state = 'queued' and code_id = mail.code_id;
    end if;
  end loop;
  return woken;
end
$$;
