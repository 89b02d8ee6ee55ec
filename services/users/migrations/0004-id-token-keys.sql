-- The keys that ID tokens are signed with, some for each algorithm. Access tokens are never checked by them.
create table id_token_keys (
  kid text primary key,
  algorithm text not null,
  -- A JWK. It outlives the private half, since old ID tokens come back as hints.
  public_key jsonb not null,
  -- A JWK, encrypted. Null: the key is no longer published.
  private_key bytea,
  signs_from timestamptz not null
);
