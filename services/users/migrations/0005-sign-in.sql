-- Browsers that people sign in with. One has a single cookie.
create table browsers (
  id text primary key,
  -- SHA-256 of the cookie's value, and of the one before it, which shows pages of begun requests until then.
  hash bytea not null unique,
  former_hash bytea,
  former_until timestamptz,
  seen_at timestamptz not null
);

create index browsers_by_former on browsers (former_hash) where former_hash is not null;
create index browsers_by_use on browsers (seen_at);

-- The sessions of a browser: one for each user.
create table browser_sessions (
  browser_id text not null,
  user_id text not null,
  session_id text not null,
  used_at timestamptz not null,
  primary key (browser_id, user_id)
);

create index browser_sessions_by_session on browser_sessions (session_id);
create index browser_sessions_by_user on browser_sessions (user_id);

-- The session that an application used last in a browser.
create table browser_uses (
  browser_id text not null,
  application_id text not null,
  session_id text not null,
  used_at timestamptz not null,
  primary key (browser_id, application_id)
);

-- What applications ask for, until it is answered.
create table authorization_requests (
  id text primary key,
  -- Null: it came by a POST, without a cookie, and waits for the browser.
  browser_id text,
  -- MACs of the address that began it, and of the /48 of that; null where its browser had a session.
  address bytea,
  network bytea,
  -- Its size in units of 4 KiB.
  units int not null,
  -- Encrypted.
  parameters bytea not null,
  -- The session that was chosen for it, and its user.
  session_id text,
  user_id text,
  -- What its page shows next, encrypted.
  progress bytea,
  -- `given` or `cancelled`. Null: it is open.
  answer text,
  -- It goes on for one that expired.
  restarts boolean not null default false,
  began_at timestamptz not null,
  expires_at timestamptz not null
);

create index authorization_requests_of_browser on authorization_requests (browser_id, began_at) where browser_id is not null;
create index authorization_requests_of_address on authorization_requests (address, began_at) where address is not null;
create index authorization_requests_of_network on authorization_requests (network, began_at) where network is not null;
create index authorization_requests_of_user on authorization_requests (user_id) where user_id is not null;
create index authorization_requests_by_end on authorization_requests (expires_at);

-- What a one-time secret needs until it is used.
create table secrets (
  kind text not null,
  id text not null,
  user_id text not null,
  expires_at timestamptz not null,
  -- Encrypted.
  detail bytea not null,
  primary key (kind, id)
);

create index secrets_of_user on secrets (user_id);
create index secrets_by_end on secrets (expires_at);
