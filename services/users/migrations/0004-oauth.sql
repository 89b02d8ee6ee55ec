-- The keys that JWT access tokens are signed with. The one that signs is the last whose time has come.
create table signing_keys (
  kid text primary key,
  algorithm text not null,
  -- A JWK.
  public_key jsonb not null,
  -- A JWK, sealed.
  private_key bytea not null,
  signs_from timestamptz not null
);

-- What is known of an access token beside that of every token; null for other tokens.
alter table tokens
  add column token_id text,
  add column scope text,
  -- Who owns the project that the scope names.
  add column project_organization_id text,
  add column issued_at timestamptz,
  -- Of the key that it is bound to.
  add column dpop_thumbprint text;
