-- The secrets of an application. Null where it was noted before this column; then secret_hash is its only one.
alter table copies add column secrets jsonb;

-- The hour in which an application last proved who it is by a secret. A lost row is a use that is not shown.
create table secret_uses (
  application_id text collate "C" not null,
  secret_id text collate "C" not null,
  used_at timestamptz not null,
  primary key (application_id, secret_id)
);
