-- Members of a project, too; empty for a member of the organization or of the instance.
alter table memberships
  add column project_id text not null default '',
  drop constraint memberships_pkey,
  add primary key (user_id, organization_id, project_id);
