-- Users by their ids: grants asks for them in that order.
create index found_users_by_id on found_users (organization_id, user_id);
