-- Secrets and keys of applications that end, as they are looked for by their end. It can be made again from the aggregates.
create table application_credentials (
  credential_id text collate "C" primary key,
  application_id text collate "C" not null,
  project_id text collate "C" not null,
  organization_id text collate "C" not null,
  -- `secret` or `key`.
  kind text collate "C" not null,
  ends_at timestamptz not null
);

create index application_credentials_by_end on application_credentials (organization_id, ends_at, credential_id);
create index application_credentials_of_application on application_credentials (application_id);

insert into application_credentials (credential_id, application_id, project_id, organization_id, kind, ends_at)
select c.id, a.id, a.state ->> 'projectId', a.organization_id, c.kind, c.ends_at::timestamptz
from aggregates a cross join lateral (
  select s ->> 'secretId', 'secret', s ->> 'expiresAt' from jsonb_array_elements(a.state -> 'secrets') s
  union all
  select k ->> 'keyId', 'key', k ->> 'expiresAt' from jsonb_array_elements(a.state -> 'keys') k
) c (id, kind, ends_at)
where a.type = 'application' and c.ends_at is not null;
