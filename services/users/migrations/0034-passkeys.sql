-- Of each passkey what changes without an event, and whose it is. All else is in the events of its user.
create table passkeys (
  -- SHA-256 of its id: the id may have 1,023 bytes.
  credential_hash bytea primary key,
  user_id text not null,
  passkey_id text not null,
  -- Where it serves.
  rp_id text not null,
  created_at timestamptz not null,
  -- Null: it was not used yet.
  used_at timestamptz,
  -- As its authenticator counted last. 0: it does not count.
  sign_count bigint not null,
  -- A provider keeps a copy, as of its last use.
  backed_up boolean not null
);
create index passkeys_of_user on passkeys (user_id);
