-- The tables of the service grants, beside those of the event store. All but `refused_calls` can be made again from the
-- aggregates.

-- Who holds which roles where; the instance is named by its own id.
create table memberships (
  user_id text collate "C" not null,
  organization_id text not null,
  roles text[] not null,
  -- Empty for a member of the organization or of the instance.
  project_id text not null default '',
  -- What an answer shows of a member.
  sequence bigint not null,
  created_at timestamptz not null,
  changed_at timestamptz not null,
  primary key (user_id, organization_id, project_id)
);

-- The orders of members of a place.
create index memberships_by_user on memberships (organization_id, project_id, user_id);
create index memberships_by_creation on memberships (organization_id, project_id, created_at, user_id);
-- Also finds the owners of the instance.
create index memberships_by_role on memberships using gin (organization_id, project_id, roles);
-- The organizations in which a user has roles, without its projects there.
create index memberships_of_user on memberships (user_id, organization_id) where project_id = '';
-- The members of a project, page by page.
create index memberships_of_project on memberships (project_id, organization_id, user_id) where project_id <> '';

-- What a user holds, which goes with the user. Of the aggregates themselves, so that to give something costs no second
-- statement.
create index holdings on aggregates ((state ->> 'userId'))
where type in ('member', 'user_grant') and not state ? 'removed';

-- Explanations find what a user held by these, also what was removed.
create index held_memberships on aggregates ((state ->> 'userId'), organization_id) where type = 'member';
create index held_user_grants on aggregates ((state ->> 'userId'), (state ->> 'projectId')) where type = 'user_grant';
create index held_project_grants on aggregates ((state ->> 'projectId'), (state ->> 'grantedOrganizationId'))
where type = 'project_grant';

-- Organizations as searches look for them. Only the service knows the form in which names are compared.
create table organizations (
  organization_id text collate "C" primary key,
  created_at timestamptz not null,
  inactive boolean not null,
  primary_domain text collate "C" not null,
  name text not null,
  canonical_name text collate "C" not null
);

create index organizations_by_age on organizations (created_at, organization_id);
create index organizations_by_name on organizations (canonical_name, organization_id);
create index organizations_by_state_and_age on organizations (inactive, created_at, organization_id);
create index organizations_by_state_and_name on organizations (inactive, canonical_name, organization_id);
create index organizations_by_domain on organizations (primary_domain);
create index organizations_by_text on organizations using gin (canonical_name gin_trgm_ops);

-- Projects as searches look for them.
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

-- For 0.3 alone, which fills `projects` where it is empty. The release after this one drops it.
create table projects_filled (only_row boolean primary key default true check (only_row));

-- Grants of projects to other organizations.
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

-- Grants of roles to users.
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

-- Calls that were refused within the last hour, so that they can be explained. Nothing is lost with them: the table
-- takes no part in the log of PostgreSQL, and is empty after a crash.
create unlogged table refused_calls (
  user_id text not null,
  -- As the call named it: there may be none.
  organization_id text not null,
  -- Callers may choose it.
  request_id text not null,
  method text not null,
  -- Empty where the request named none.
  project_id text not null,
  refused_at timestamptz not null,
  primary key (user_id, organization_id, request_id)
);

create index refused_calls_of_user on refused_calls (user_id, refused_at);
create index refused_calls_by_age on refused_calls (refused_at);
