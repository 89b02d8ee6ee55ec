-- Explanations find what a user held by these, also what was removed.
create index held_memberships on aggregates ((state ->> 'userId'), organization_id) where type = 'member';
create index held_user_grants on aggregates ((state ->> 'userId'), (state ->> 'projectId')) where type = 'user_grant';
create index held_project_grants on aggregates ((state ->> 'projectId'), (state ->> 'grantedOrganizationId'))
where type = 'project_grant';
