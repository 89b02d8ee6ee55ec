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
