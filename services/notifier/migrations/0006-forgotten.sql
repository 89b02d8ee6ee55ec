-- The deliveries of one user, of which the personal fields go when the user is removed.
create index deliveries_by_aggregate on deliveries (aggregate) where kind = 'webhook';
