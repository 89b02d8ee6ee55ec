-- Which roles a user was given in a project, by each grant.
create table project_roles (
  grant_id text primary key,
  user_id text not null,
  project_id text not null,
  -- Who gave them.
  organization_id text not null,
  role_keys text[] not null
);

create index project_roles_by_user on project_roles (user_id, project_id);

insert into project_roles (grant_id, user_id, project_id, organization_id, role_keys)
select id, state ->> 'userId', state ->> 'projectId', organization_id,
  array(select jsonb_array_elements_text(state -> 'roleKeys'))
from aggregates where type = 'user_grant' and state ? 'projectId';
