-- What users knows of the applications and projects of grants. It can be asked for again.
create table copies (
  -- application or project
  type text not null,
  id text collate "C" not null,
  organization_id text not null,
  -- Of an application.
  client_id text collate "C",
  -- Of grants. An answer that comes late changes nothing.
  sequence bigint not null,
  state jsonb not null,
  -- Of an application, if it has a secret.
  secret_hash bytea,
  primary key (type, id)
);

create unique index copies_by_client on copies (client_id);
