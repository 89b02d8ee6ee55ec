-- The tables of the service users, beside those of the event store.

-- Argon2id hashes, which no event may hold.
create table passwords (
  user_id text primary key,
  hash text not null
);

-- Bearer tokens by their SHA-256: sessions of humans, personal access tokens of machines, and access tokens.
create table tokens (
  hash bytea primary key,
  user_id text not null,
  organization_id text not null,
  human boolean not null,
  -- Empty where it is not that of a session.
  session_id text not null,
  -- Null for a token that does not expire.
  expires_at timestamptz,
  -- The personal access token, key or secret that it is, or was obtained with; empty for a session.
  credential_id text not null default '',
  -- What is known of an access token beside that; null for other tokens.
  token_id text,
  scope text,
  -- Who owns the project that the scope names.
  project_organization_id text,
  issued_at timestamptz,
  -- Of the key that it is bound to.
  dpop_thumbprint text
);

-- The tokens that end with their user's use, or with the user.
create index tokens_by_user on tokens (user_id);
create index tokens_by_session on tokens (session_id) where session_id <> '';
create index tokens_by_credential on tokens (credential_id) where credential_id <> '';
-- The living sessions of a user, the newest first. No other index is in the order of code points. Otherwise PostgreSQL
-- would take that of all sessions for a user with many other tokens.
create index tokens_by_user_and_session on tokens (user_id, session_id collate "C") where session_id <> '';
-- What is over is found by its end, however much there is.
create index tokens_by_end on tokens (expires_at) where expires_at is not null;

-- Sessions whose token is gone because their user has newer ones, and whose end is yet to be published.
create table surplus_sessions (
  session_id text primary key,
  user_id text not null
);

create index surplus_sessions_by_user on surplus_sessions (user_id);

-- The events of a user's sessions, which are aggregates of their own.
create index events_of_sessions on events ((payload ->> 'userId'), position) where aggregate_type = 'session';

-- Secrets of machines by their SHA-256: they are random, so that a slower hash would protect nothing.
create table machine_secrets (
  id text primary key,
  user_id text not null,
  hash bytea not null,
  -- Null for a secret that does not expire.
  expires_at timestamptz
);

-- Credentials that will expire and of which no warning was given yet.
create table expiring_credentials (
  credential_id text primary key,
  user_id text not null,
  kind text not null,
  warn_at timestamptz not null
);

create index expiring_credentials_by_time on expiring_credentials (warn_at);

-- The keys that JWT access tokens are signed with. The one that signs is the last whose time has come.
create table signing_keys (
  kid text primary key,
  algorithm text not null,
  -- A JWK.
  public_key jsonb not null,
  -- A JWK, encrypted.
  private_key bytea not null,
  signs_from timestamptz not null
);

-- For 0.3 alone, which prunes it. No service writes to it, and the release after this one drops it.
create table sign_in_attempts (
  key bytea primary key,
  attempts integer not null,
  window_end timestamptz not null
);

create index sign_in_attempts_by_end on sign_in_attempts (window_end);

-- Token buckets: each token that is taken pushes the time on by the pause of its limit, from now at the earliest. How
-- far the time lies ahead says how many were taken of late.
create table turns (
  -- A MAC: neither names nor addresses can be read here.
  key bytea primary key,
  paid_until timestamptz not null
) with (fillfactor = 70);

create index turns_by_end on turns (paid_until);

-- Where a user signed in from, the last few addresses.
create table known_addresses (
  user_id text not null,
  -- A MAC of the address, and the encryption key that it was made with.
  address bytea not null,
  key_id text not null,
  used_at timestamptz not null default now(),
  primary key (user_id, address)
);

create index known_addresses_by_use on known_addresses (used_at);

-- Failed sign-ins of humans within a minute. The first one is an event, and the count is to come.
create table failed_sign_ins (
  user_id text primary key,
  -- Of that event among those of `user.signin`.
  sequence bigint not null,
  since timestamptz not null default now(),
  count int not null default 1,
  -- No further one is counted.
  closed boolean not null default false
);

create index failed_sign_ins_by_begin on failed_sign_ins (since);

-- Verification codes that wait to be mailed: what the notifier's sweep finds.
create table unsent_email_codes (
  user_id text primary key,
  code_id text not null,
  requested_at timestamptz not null,
  expires_at timestamptz not null
);

-- Mails that wait, beside those with verification codes: codes for forgotten passwords, and notices of changed
-- addresses.
create table unsent_mails (
  -- The id of the code or the notice.
  mail_id text primary key,
  user_id text not null,
  -- `password-reset` or `email-changed`.
  kind text not null,
  requested_at timestamptz not null,
  expires_at timestamptz not null,
  -- Always null. 0.3 reads it; the release after this one drops it.
  address text
);

alter table unsent_mails alter column address set statistics 0;
create index unsent_mails_by_user on unsent_mails (user_id, kind);
create index unsent_mails_by_end on unsent_mails (expires_at);

-- Living users as searches look for them. Names and addresses are in the form in which they are compared, which only the
-- service itself knows. They come from the aggregates, so a backup may leave out what is in the tables `found_*`.
create table found_users (
  user_id text collate "C" primary key,
  organization_id text not null,
  created_at timestamptz not null,
  -- Numbers of proto/: UserState and Type.
  state smallint not null,
  type smallint not null,
  user_name text collate "C" not null,
  -- Empty for a machine.
  first_name text collate "C" not null,
  last_name text collate "C" not null,
  nick_name text collate "C" not null,
  -- The name of a machine.
  display_name text collate "C" not null,
  -- Names as they are written, for queries that distinguish letters: the states of users are encrypted.
  exact jsonb
);

create index found_users_by_age on found_users (organization_id, created_at, user_id);
create index found_users_by_user_name on found_users (organization_id, user_name, user_id);
create index found_users_by_first_name on found_users (organization_id, first_name, user_id);
create index found_users_by_last_name on found_users (organization_id, last_name, user_id);
create index found_users_by_display_name on found_users (organization_id, display_name, user_id);
create index found_users_by_text on found_users using gin (
  organization_id, user_name gin_trgm_ops, first_name gin_trgm_ops, last_name gin_trgm_ops, nick_name gin_trgm_ops,
  display_name gin_trgm_ops
);
-- Users by their ids: grants asks for them in that order.
create index found_users_by_id on found_users (organization_id, user_id);
-- Over all organizations.
create index all_found_users_by_age on found_users (created_at, user_id);
create index all_found_users_by_user_name on found_users (user_name, user_id);

-- Their addresses. They change more often than names, and a change of a row changes all indexes of its table.
create table found_addresses (
  user_id text collate "C" primary key,
  organization_id text not null,
  -- Empty for a machine.
  email text collate "C" not null,
  -- The address as it is written.
  exact jsonb
);

create index found_addresses_by_email on found_addresses (organization_id, email, user_id);
create index found_addresses_by_text on found_addresses using gin (organization_id, email gin_trgm_ops);

-- Whether both have all living users. Where they do not, as after the restore of such a backup, the next start fills them.
create table found_users_filled (only_row boolean primary key default true check (only_row));

-- A bare login name belongs to the user who had it first on the instance.
insert into first_key_kinds (kind, filled) values ('user_name', true);

-- The users that were removed, and what is done since.
create table forgettings (
  user_id text primary key,
  organization_id text not null,
  removed_at timestamptz not null,
  -- Since when the stream of events has no event of the user but the removal.
  stream_at timestamptz,
  -- How many events the stream had of the user.
  stream_events int,
  -- Until when the removal can be undone. Null: it cannot, and the user is erased.
  forget_at timestamptz,
  -- Since when PostgreSQL's samples of the tables of searches have nothing of the user.
  statistics_at timestamptz,
  -- The generation of the stream (see `published`) that was cleaned. A stream that was lost or set back since may have
  -- events of the user again.
  stream_generation int
);

create index forgettings_waiting on forgettings (removed_at) where stream_at is null;
create index forgettings_due on forgettings (forget_at) where forget_at is not null;
create index forgettings_in_statistics on forgettings (user_id) where statistics_at is null and forget_at is null;
create index forgettings_by_removal on forgettings (removed_at) where forget_at is null;
-- Removed users are cleaned from the stream by organization, round robin.
create index forgettings_in_turns on forgettings (organization_id, removed_at) where stream_at is null and forget_at is null;

-- A removed organization takes all its users with it. PostgreSQL updates a row in place only where no index looks at a
-- changed column: no column of this one changes, nor its condition.
create index users_of_organization on aggregates (organization_id, id) where type = 'user';
