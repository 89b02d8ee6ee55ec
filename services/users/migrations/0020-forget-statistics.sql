-- Since when PostgreSQL's samples of the tables of searches have nothing of the user.
alter table forgettings add column statistics_at timestamptz;

create index forgettings_in_statistics on forgettings (user_id) where statistics_at is null and forget_at is null;
