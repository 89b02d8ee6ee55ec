-- How many memberships an organization gave a user, with those in its projects.
create or replace function count_memberships(of jsonb, most int) returns int language sql stable as $$
  select count(*)::int from (
    select from memberships
    where user_id = of ->> 'userId' and organization_id = of ->> 'organizationId' limit most
  ) given
$$;

-- How many applications a project has.
create or replace function count_applications(of jsonb, most int) returns int language sql stable as $$
  select count(*)::int from (select from applications where project_id = of ->> 'projectId' limit most) given
$$;

-- Whether another organization has a domain, as a verified or as a primary one.
create or replace function count_foreign_domains(of jsonb, most int) returns int language sql stable as $$
  select count(*)::int from (
    select from unique_keys
    where kind = of ->> 'kind' and scope = '' and key = of ->> 'domain' and aggregate_id <> of ->> 'organizationId' limit most
  ) others
$$;
