-- Client secrets of the providers, sealed: no event holds them.
create table client_secrets (
  idp_id text primary key,
  sealed bytea not null
);
