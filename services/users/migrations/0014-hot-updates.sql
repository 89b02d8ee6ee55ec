-- PostgreSQL updates a row in place only where no index looks at a changed column, and this one looked at every state.
-- The living users of an organization are in found_users.
drop index users_of_organization;
