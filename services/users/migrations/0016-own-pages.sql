-- What finishes it: `login-client`. Null: pages of Roster's own.
alter table authorization_requests add column finished_by text;

-- Sessions of which a password is yet to be checked, for login applications. They are nobody's, and no tokens.
create table half_done_sessions (
  -- A UUID of version 7, which holds the time.
  session_id text collate "C" primary key,
  user_id text not null,
  organization_id text not null,
  -- SHA-256 of the token that goes on with it.
  hash bytea not null,
  -- How many seconds the whole session is to live. Null: as long as others.
  lifetime int,
  began_at timestamptz not null,
  expires_at timestamptz not null
);

create index half_done_sessions_of_user on half_done_sessions (user_id, session_id);
create index half_done_sessions_by_end on half_done_sessions (expires_at);
