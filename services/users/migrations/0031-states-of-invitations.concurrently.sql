-- Searches by state, the newest first.
create index concurrently if not exists invitations_by_ended on invitations (organization_id, ended, created_at, invitation_id);
-- Those that are pending, and those that have expired.
create index concurrently if not exists invitations_open on invitations (organization_id, expires_at) where ended is null;
