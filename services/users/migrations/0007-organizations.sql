-- The users that go with their organization.
create index users_of_organization on aggregates (organization_id, id) where type = 'user' and not state ? 'removed';
