-- Into which stream the events are published, so that a stream that was lost or cut back is noticed.
alter table published
  -- When the stream was made; empty before the first look at it.
  add column stream_created text not null default '',
  -- The last event's place in the stream; null where that stream was given none yet.
  add column stream_sequence bigint,
  add column published_at timestamptz not null default now(),
  -- How often events had to be published anew.
  add column generation int not null default 0;
