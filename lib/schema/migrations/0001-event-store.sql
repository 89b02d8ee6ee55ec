-- The tables of the event store. Every service with events has them in its own schema, beside its own tables. A later
-- change is another file of this folder.

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
  -- The id of the event, such as users-17, because of which a service acted by itself.
  cause text,
  -- W3C trace context of the span that made the event, where it was recorded: the work on the event goes on in its
  -- trace. Null costs nothing.
  traceparent text,
  unique (aggregate_type, aggregate_id, sequence)
);

create index events_in_commit_order on events (transaction_id, position);
-- The events of one organization, in commit order.
create index events_of_organization on events (organization_id, transaction_id, position);

-- Each aggregate after its last event: the fold of its events, so that no decision and no read has to fold them again.
create table aggregates (
  type text not null,
  -- Compared byte by byte, as the tables of searches do. With another collation, a join with them could not use the
  -- primary key. A statement that looks by such an id into a table of the database's own collation says
  -- `collate "default"`. Otherwise it could not use the index there.
  id text collate "C" not null,
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

-- Kinds of unique keys of which it is known which scope had a key first.
create table first_key_kinds (
  kind text primary key,
  -- For 0.3 alone, which fills `first_keys` where it is false.
  filled boolean not null default false
);

-- The first scope of each such key, until it gives the key up. No other scope inherits it: the next one that claims the
-- key is the first one then.
create table first_keys (
  kind text not null,
  key text not null,
  scope text not null,
  primary key (kind, key),
  foreign key (kind, scope, key) references unique_keys on delete cascade
);

-- What may be done so often only: when it was done, by what it is counted by.
create table uses (
  key text not null,
  used_at timestamptz not null
);

create index uses_by_key on uses (key, used_at);
create index uses_by_age on uses (used_at);

-- What keyed requests were answered, encrypted, in the transaction of their effect.
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
  generation int not null default 0,
  -- The last place of the stream when events had to be published anew: nothing of them is there or before.
  stream_floor bigint not null default 0,
  -- Of the page behind the cursor, what the stream has already: its place, by the event's position.
  taken jsonb not null default '{}',
  -- Whether something behind the cursor was sent, and it is unknown whether the stream has it.
  in_doubt boolean not null default false,
  -- What the ids of messages in the stream are made with. The stream drops a message whose id it knows, whoever put it
  -- there, so no one else may know the ids that are to come.
  message_key text not null default gen_random_uuid()::text || gen_random_uuid()::text,
  -- Which event is at stream_sequence: its subject, with the generation and the sequence that it was stored for. What
  -- is stored for another one says nothing.
  stream_mark jsonb
);

insert into published (transaction_id, position) values ('0', 0);

-- Events that were refused for good, by the broker or by proto/: the outbox went on without them.
create table parked_events (
  position bigint primary key,
  reason text not null,
  parked_at timestamptz not null default now(),
  -- Set where an operator asked for another try: the outbox sends the event again.
  retry boolean not null default false
);

-- How far each follower of a service's events has come. The events are in the database of their own service.
create table followers (
  name text primary key,
  transaction_id xid8 not null,
  position bigint not null
);

-- Events that a follower went on without. It tries them again.
create table parked_for_followers (
  follower text not null,
  transaction_id xid8 not null,
  position bigint not null,
  tries int not null default 1,
  next_try_at timestamptz not null,
  reason text not null,
  primary key (follower, position)
);

create index parked_for_followers_due on parked_for_followers (follower, next_try_at);

-- The audit chain (docs/decisions/22-audit.md): how far it goes, and the hash of its last page.
create table audit_chain (
  only_row boolean primary key default true check (only_row),
  -- The chain begins anew where stored events were changed for a reason.
  epoch int not null default 1,
  reason text not null default '',
  -- Set while stored events are being changed: nothing is added.
  held boolean not null default false,
  page bigint not null default 0,
  transaction_id xid8 not null default '0',
  position bigint not null default 0,
  -- Events of the epoch.
  events bigint not null default 0,
  hash text not null default ''
);

insert into audit_chain default values;

create table audit_pages (
  number bigint primary key,
  -- The hash of a page is that of this text.
  header text not null,
  -- Without it, no one can try out what an event may have said.
  salt text not null,
  -- 40 bytes for each event: its position and its hash.
  entries bytea not null,
  -- The place of its last event.
  transaction_id xid8 not null,
  position bigint not null
);

create index audit_pages_by_place on audit_pages (transaction_id, position);
-- Hashes do not get smaller.
alter table audit_pages alter column entries set storage external;

-- What was signed of the chain.
create table audit_checkpoints (
  number bigint primary key,
  jws text not null,
  epoch int not null,
  page bigint not null,
  transaction_id xid8 not null,
  position bigint not null,
  signed_at timestamptz not null,
  -- Whether the stream has it.
  published boolean not null default false
);

create index audit_checkpoints_unpublished on audit_checkpoints (number) where not published;

-- The keys that checkpoints are signed with.
create table audit_keys (
  kid text primary key,
  public_key jsonb not null,
  -- Encrypted. Null once the key signs no more.
  private_key bytea,
  created_at timestamptz not null default now()
);

-- The key of each person, with which the personal fields of its events and its states are encrypted
-- (docs/decisions/23-erasure.md). The service's own encryption key wraps it. Deleting a row erases that person.
create table subject_keys (
  subject_id text collate "C" primary key,
  wrapped bytea not null,
  created_at timestamptz not null default now()
);

-- The secret of the names. The row is there in a service with data of people alone.
create table sealing (
  only_row boolean primary key default true check (only_row),
  -- Always `on`. 0.3 reads it, which could have data in plain.
  phase text not null,
  -- Makes unique keys of names. The service's encryption key seals it.
  secret bytea not null,
  -- The columns from here on are for 0.3 alone. The release after this one drops them, and the phase.
  wanted boolean not null default false,
  sealed bigint not null default 0,
  remaining bigint not null default 0,
  changed_at timestamptz not null default now(),
  walks bigint not null default 0,
  skipped bigint not null default 0,
  hindering bigint not null default 0,
  skipped_ids text[] not null default '{}'
);
