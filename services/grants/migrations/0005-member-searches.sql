-- What an answer shows of a member; and the orders of members of a place.
alter table memberships
  add column sequence bigint,
  add column created_at timestamptz,
  add column changed_at timestamptz;

update memberships set sequence = member.sequence, created_at = member.created_at, changed_at = member.changed_at
from aggregates member
where member.type = 'member' and not member.state ? 'removed'
  and member.state ->> 'userId' = memberships.user_id
  and member.organization_id = memberships.organization_id
  and coalesce(member.state ->> 'projectId', '') = memberships.project_id;

alter table memberships
  alter column sequence set not null,
  alter column created_at set not null,
  alter column changed_at set not null,
  alter column user_id type text collate "C";

drop index memberships_by_organization;
create index memberships_by_user on memberships (organization_id, project_id, user_id);
create index memberships_by_creation on memberships (organization_id, project_id, created_at, user_id);
-- Also finds the owners of the instance.
create index memberships_by_role on memberships using gin (organization_id, project_id, roles);
