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

-- The personal access token, key or secret that a token is, or was obtained with; empty for a session.
alter table tokens add column credential_id text not null default '';

create index tokens_by_credential on tokens (credential_id) where credential_id <> '';
