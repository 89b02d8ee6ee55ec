-- What people gave applications, from the first access token on and as long as it may live. Those that are over by an
-- event, by a bound, or with what they stand on, are not there.
create table authorizations (
  -- A UUID of version 7, which holds the time.
  authorization_id text collate "C" primary key,
  user_id text not null,
  application_id text not null,
  session_id text not null,
  -- It has refresh tokens.
  offline boolean not null,
  -- It ends with its session.
  session_bound boolean not null,
  -- When its refresh tokens are over, if no further one was born since. Null: it has none.
  expires_at timestamptz
);

create index authorizations_of_user on authorizations (user_id, application_id);
create index authorizations_of_session on authorizations (session_id) where session_bound;
create index authorizations_by_end on authorizations (expires_at) where expires_at is not null;

-- Authorizations that are over with their session or user, or made place for newer ones, and whose end is yet to be
-- published.
create table surplus_authorizations (
  authorization_id text primary key,
  user_id text not null,
  -- As in the event.
  reason text not null
);

create index surplus_authorizations_by_user on surplus_authorizations (user_id);
