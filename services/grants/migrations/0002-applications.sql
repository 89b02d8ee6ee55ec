-- Applications of projects as searches look for them. It can be made again from the aggregates.
create table applications (
  application_id text collate "C" primary key,
  project_id text collate "C" not null,
  organization_id text collate "C" not null,
  inactive boolean not null,
  name text not null,
  canonical_name text collate "C" not null
);

create index applications_by_name on applications (project_id, canonical_name, application_id);

-- The secrets of applications, by their hashes alone. No event has them, so they cannot be made again.
create table application_secrets (
  secret_id text collate "C" primary key,
  application_id text collate "C" not null,
  hash bytea not null
);
