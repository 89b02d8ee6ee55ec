-- The organizations in which a user has roles, without its projects there.
create index memberships_of_user on memberships (user_id, organization_id) where project_id = '';

-- The members of a project, page by page.
create index memberships_of_project on memberships (project_id, organization_id, user_id) where project_id <> '';
drop index memberships_by_project;

-- How many memberships an organization gave a user, with those in its projects.
create function count_memberships(of jsonb, most int) returns int language sql stable as $$
  select count(*)::int from (
    select from memberships
    where user_id = of ->> 'userId' and organization_id = of ->> 'organizationId' limit most
  ) given
$$;
