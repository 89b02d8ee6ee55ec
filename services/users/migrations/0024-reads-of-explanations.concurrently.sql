-- The limits of a user.
create index concurrently if not exists turns_of_owner on turns (owner) where owner is not null;
-- Applications by their names.
create index concurrently if not exists copies_by_name on copies ((state ->> 'name') collate "C", organization_id) where type = 'application';
