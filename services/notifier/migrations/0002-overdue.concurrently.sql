-- What is queued for too long. Only events of webhooks have no `expires_at`: the condition keeps PostgreSQL from
-- reading all that is queued by this index, which is small, where it looks for the head of a chain.
create index concurrently if not exists deliveries_overdue on deliveries (queued_at)
where kind = 'webhook' and state = 'queued' and expires_at is null;

drop index concurrently if exists deliveries_late;
