-- The organizations in which a user has roles, without its projects there.
create index memberships_of_user on memberships (user_id, organization_id) where project_id = '';
