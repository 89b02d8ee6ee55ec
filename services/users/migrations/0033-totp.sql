-- The secrets of authenticator apps. A user has one at most.
create table totp_secrets (
  user_id text collate "C" primary key,
  -- Encrypted with the key of its person.
  secret text not null,
  -- The time step of the last code that was used, in half minutes since 1970. No code of it, or of one before, counts again.
  last_step bigint not null
);

-- Recovery codes that can still be used, by their MACs with the key of their person.
create table recovery_codes (
  user_id text collate "C" not null,
  mac bytea not null,
  primary key (user_id, mac)
);

-- Wrong codes of a second factor since the last right one. A browser that passed it has a row of its own; the one with the
-- empty id is of everybody else, and of programs.
create table factor_guesses (
  user_id text collate "C" not null,
  kind text collate "C" not null,
  browser_id text collate "C" not null,
  wrong int not null default 0,
  -- The last right one. Null: there was none yet.
  passed_at timestamptz,
  -- When the person was told of wrong ones.
  told_at timestamptz,
  primary key (user_id, kind, browser_id)
);
