-- Argon2id hashes, which no event may hold.
create table passwords (
  user_id text primary key,
  hash text not null
);

-- Bearer tokens by their SHA-256: sessions of humans and personal access tokens of machines.
create table tokens (
  hash bytea primary key,
  user_id text not null,
  organization_id text not null,
  human boolean not null,
  -- Empty for a personal access token.
  session_id text not null,
  -- Null for a token that does not expire.
  expires_at timestamptz
);

create index tokens_by_session on tokens (session_id) where session_id <> '';

-- Attempts to sign in within a running window.
create table sign_in_attempts (
  key bytea primary key,
  attempts integer not null,
  window_end timestamptz not null
);

-- Codes that wait to be mailed: what the notifier's sweep finds.
create table unsent_email_codes (
  user_id text primary key,
  code_id text not null,
  requested_at timestamptz not null,
  expires_at timestamptz not null
);
