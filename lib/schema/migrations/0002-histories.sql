-- The lives of this database. A server that starts begins a life of its own: it may run a restored dump, a copied
-- volume, or a standby that was behind. Its transaction ids and positions say nothing beside those of another life, so
-- each life has a place of its own in the order of events: lib/schema/functions.sql, current_place().
create table histories (
  number int primary key,
  -- When the server of this life started: no other life has the same time.
  server_started timestamptz not null,
  -- Added to each transaction id.
  base bigint not null,
  -- Where the positions of its events begin.
  first_position bigint not null,
  began_at timestamptz not null
);

-- The events so far, and those to come from the server that runs now. In a younger one, such as that of a restored dump,
-- the next event begins a history.
insert into histories (number, server_started, base, first_position, began_at)
select 1, case when is_younger then '-infinity' else pg_postmaster_start_time() end, 0, 1,
  transaction_timestamp()
from (
  select exists (select from events where transaction_id >= pg_snapshot_xmax(pg_current_snapshot()))
    or coalesce((select max(position) from events), 0) > coalesce(pg_sequence_last_value(pg_get_serial_sequence('events', 'position')), 0)
    as is_younger
) found;

alter table published
  -- When the server started that last compared the stream with the events.
  add column compared_on timestamptz,
  -- Set where the stream has events that the database lacks, because the database is older: lib/outbox/compare-stream.ts.
  add column ahead jsonb;
