-- Until when the removal of a user can be undone. Null: it cannot, and the user is forgotten.
alter table forgettings add column forget_at timestamptz;

create index forgettings_due on forgettings (forget_at) where forget_at is not null;
