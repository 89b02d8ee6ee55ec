-- Projects as searches look for them. `fillProjects` adds the projects of earlier versions, because only the service
-- knows the form in which names are compared.
create table projects (
  project_id text collate "C" primary key,
  organization_id text collate "C" not null,
  created_at timestamptz not null,
  inactive boolean not null,
  name text not null,
  canonical_name text collate "C" not null
);

create index projects_by_age on projects (organization_id, created_at, project_id);
create index projects_by_name on projects (organization_id, canonical_name, project_id);
create index projects_by_text on projects using gin (organization_id, canonical_name gin_trgm_ops);

-- Whether the projects of earlier versions are in it.
create table projects_filled (only_row boolean primary key default true check (only_row));

create table project_grants (
  grant_id text collate "C" primary key,
  project_id text collate "C" not null,
  organization_id text collate "C" not null,
  granted_organization_id text collate "C" not null,
  inactive boolean not null,
  role_keys text[] not null
);

create index project_grants_by_project on project_grants (project_id, grant_id);
create index project_grants_by_owner on project_grants (organization_id, grant_id);
create index project_grants_by_organization on project_grants (granted_organization_id, grant_id);

create table user_grants (
  grant_id text collate "C" primary key,
  organization_id text collate "C" not null,
  user_id text collate "C" not null,
  project_id text collate "C" not null,
  -- Empty where the organization owns the project.
  project_grant_id text collate "C" not null,
  inactive boolean not null
);

create index user_grants_by_organization on user_grants (organization_id, grant_id);
create index user_grants_by_state on user_grants (organization_id, inactive, grant_id);
create index user_grants_by_project on user_grants (organization_id, project_id, grant_id);
create index user_grants_by_user on user_grants (user_id, grant_id);
create index user_grants_of_user on user_grants (project_id, user_id, organization_id);
create index user_grants_by_project_grant on user_grants (project_grant_id, grant_id) where project_grant_id <> '';

-- A row for each role of each user grant.
create table user_grant_roles (
  project_id text collate "C" not null,
  role_key text collate "C" not null,
  organization_id text collate "C" not null,
  grant_id text collate "C" not null,
  primary key (project_id, role_key, organization_id, grant_id)
);

create index user_grant_roles_by_organization on user_grant_roles (organization_id, role_key, grant_id);

create index memberships_by_project on memberships (project_id, organization_id) where project_id <> '';

insert into project_grants
select id, state ->> 'projectId', organization_id, state ->> 'grantedOrganizationId', state ? 'inactive',
  array(select jsonb_array_elements_text(state -> 'roleKeys'))
from aggregates
where type = 'project_grant' and not state ? 'removed';

insert into user_grants
select id, organization_id, state ->> 'userId', state ->> 'projectId', state ->> 'projectGrantId', state ? 'inactive'
from aggregates
where type = 'user_grant' and not state ? 'removed';

insert into user_grant_roles
select distinct state ->> 'projectId', role_key, organization_id, id
from aggregates, jsonb_array_elements_text(state -> 'roleKeys') role_key
where type = 'user_grant' and not state ? 'removed';
