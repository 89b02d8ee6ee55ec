-- The secrets that webhooks are signed with, sealed: no event holds them.
create table webhook_secrets (
  webhook_id text not null,
  secret_id text not null,
  sealed bytea not null,
  -- Until when it signs beside its successor; null for the one in use.
  expires_at timestamptz,
  primary key (webhook_id, secret_id)
);
