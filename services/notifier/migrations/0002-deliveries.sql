-- What is queued for too long.
create index deliveries_late on deliveries (queued_at) where kind = 'webhook' and state = 'queued';

-- What became of an event.
create index deliveries_by_event on deliveries (event_id);
