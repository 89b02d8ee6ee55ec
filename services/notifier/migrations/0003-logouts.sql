-- A delivery may also tell an application of the end of a session.
alter table deliveries add column application_id text;
alter table deliveries drop constraint deliveries_kind_check;
alter table deliveries add constraint deliveries_kinds check (kind in ('mail', 'webhook', 'logout')) not valid;

-- Sessions that ended, until users says which applications are to be told.
create table ended_sessions (
  session_id text primary key,
  event_id text not null,
  user_id text not null
);

-- The deliveries to applications that are queued.
create table logouts (
  delivery_id text primary key,
  organization_id text not null,
  application_id text collate "C" not null,
  session_id text not null,
  -- Whoever takes it sets this to when it may be taken from them.
  due_at timestamptz not null,
  -- Who has taken it; empty where it rests.
  taken_by text not null default ''
);

create index logouts_due on logouts (application_id, due_at);
create index logouts_taken on logouts (organization_id) where taken_by <> '';
