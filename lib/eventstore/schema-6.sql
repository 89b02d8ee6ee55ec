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
