-- What each user has to sign in with, beside a password, as searches look for it. The former release knows no such factors.
create table user_factors (
  user_id text collate "C" not null,
  organization_id text collate "C" not null,
  -- As in events, but for `u2f`: a passkey that was made as a second factor alone.
  kind text collate "C" not null,
  -- Of a passkey, its id. Else empty: a user has one of a kind.
  factor_id text collate "C" not null,
  added_at timestamptz not null,
  primary key (user_id, kind, factor_id)
);
create index user_factors_by_kind on user_factors (organization_id, kind, user_id);
