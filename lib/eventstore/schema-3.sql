-- Events that were refused for good, by the broker or by proto/: the tail went on without them.
create table parked_events (
  position bigint primary key,
  reason text not null,
  parked_at timestamptz not null default now()
);

alter table published
  -- The last place of the stream when events had to be published anew: nothing of them is there or before.
  add stream_floor bigint not null default 0,
  -- Of the page behind the cursor, what the stream has already: its place, by the event's position.
  add taken jsonb not null default '{}',
  -- Whether something behind the cursor was sent, and nobody knows whether the stream has it.
  add in_doubt boolean not null default false;
