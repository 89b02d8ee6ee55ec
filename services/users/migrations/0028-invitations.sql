-- What no event of an invitation has, and what searches read.
create table invitations (
  invitation_id text primary key collate "C",
  organization_id text collate "C" not null,
  created_at timestamptz not null,
  -- Of its link.
  expires_at timestamptz not null,
  -- `accepted` or `revoked`. Null: it is pending, or has expired.
  ended text,
  -- As it was given, and in the form in which addresses are compared.
  email text collate "C" not null,
  canonical_email text collate "C" not null,
  inviter_id text collate "C" not null,
  application_id text collate "C",
  -- Who accepted it; where it has not ended, the new person who is about to: the roles are not given yet.
  user_id text collate "C",
  -- The language and the message, encrypted.
  detail bytea not null
);
