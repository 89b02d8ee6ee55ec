-- The tables of the service notifier, beside those of the event store.

-- The webhooks that there are, as the events say, and how their receivers answered last.
create table webhooks (
  webhook_id text primary key,
  organization_id text not null,
  all_organizations boolean not null,
  url text not null,
  -- Empty: every type.
  event_types text[] not null,
  active boolean not null,
  created_at timestamptz not null,
  -- Who was not quick gets one try at a time, out of the places for those.
  quick boolean not null default false,
  -- One after the other.
  timeouts int not null default 0,
  -- Who did not answer in time is not tried again before.
  retry_at timestamptz
);

create index webhooks_by_organization on webhooks (organization_id, created_at);

-- The secrets that they are signed with, encrypted: no event holds them.
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

-- PostgreSQL's statistics sample values in plain, and keep them after their rows have changed. No statement needs them
-- of payloads.
alter table deliveries alter column payload set statistics 0;

-- The same event is for a webhook but once.
create unique index deliveries_of_event on deliveries (webhook_id, event_id) where kind = 'webhook';
create unique index deliveries_of_code on deliveries (code_id) where kind = 'mail';
create index deliveries_to_send on deliveries (webhook_id, aggregate, position) where kind = 'webhook' and state = 'queued';
create index deliveries_to_mail on deliveries (user_id) where kind = 'mail' and state = 'queued';
create index deliveries_by_organization on deliveries (organization_id, position);
create index deliveries_by_user on deliveries (organization_id, user_id, position);
create index deliveries_by_webhook on deliveries (webhook_id, state, position);
create index deliveries_settled on deliveries (changed_at) where state <> 'queued';
-- What is queued for too long.
create index deliveries_late on deliveries (queued_at) where kind = 'webhook' and state = 'queued';
-- What became of an event.
create index deliveries_by_event on deliveries (event_id);
-- The deliveries of one user, of which the personal fields go when the user is removed.
create index deliveries_by_aggregate on deliveries (aggregate) where kind = 'webhook';

-- What is queued for a webhook of one aggregate. Whoever takes it sets `due_at` to when it may be taken from them, so
-- that no one else sends meanwhile.
create table chains (
  webhook_id text not null,
  aggregate text not null,
  due_at timestamptz not null,
  -- Who took it last.
  taken_by text not null default '',
  -- Counts what was added, so that no one removes a chain that was just added to.
  added int not null default 0,
  primary key (webhook_id, aggregate)
);

create index chains_due on chains (webhook_id, due_at);

-- The tries that are under way, whatever became of their chains and webhooks meanwhile: whose they are decides who is
-- next.
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

-- Webhooks are sent to by organization, round robin.
create table turns (
  organization_id text primary key,
  -- When something was sent for it last.
  turn_at timestamptz not null,
  -- A quick receiver of it stopped being quick: until then it has one place for those.
  held_until timestamptz
);
