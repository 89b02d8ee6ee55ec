-- Where people signed in. `client` has the address and what the browser says of itself, encrypted with the person's key.
create table sign_in_records (
  user_id text not null,
  -- A UUID of version 7.
  id uuid not null,
  at timestamptz not null,
  session_id text not null,
  -- Of the application that the person signed in to. Null: of none, or a program asked for the session.
  client_id text,
  -- What was checked, in this order.
  factors text[] not null,
  -- A factor was missing then.
  partial boolean not null,
  client text not null,
  primary key (user_id, id)
);

create index sign_in_records_by_time on sign_in_records (at);

-- How often signing in as a person failed in an hour, and why.
create table sign_in_failures (
  user_id text not null,
  hour timestamptz not null,
  cause text collate "C" not null,
  count integer not null,
  primary key (user_id, hour, cause)
);

create index sign_in_failures_by_time on sign_in_failures (hour);
