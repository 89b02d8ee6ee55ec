-- A removed organization takes its users with it, also those whose removal could still be undone.
create index forgettings_of_organization on forgettings (organization_id, user_id) where forget_at is not null;
