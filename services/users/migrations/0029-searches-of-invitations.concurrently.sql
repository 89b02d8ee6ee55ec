create index concurrently if not exists invitations_by_time on invitations (organization_id, created_at, invitation_id);
create index concurrently if not exists invitations_by_email on invitations using gin (organization_id, canonical_email gin_trgm_ops);
create index concurrently if not exists invitations_by_inviter on invitations (organization_id, inviter_id, created_at, invitation_id);
create index concurrently if not exists invitations_by_application on invitations (organization_id, application_id, created_at, invitation_id);
-- Also those that go with a removed user.
create index concurrently if not exists invitations_of_user on invitations (user_id) where user_id is not null;
create index concurrently if not exists invitations_by_end on invitations (expires_at);
