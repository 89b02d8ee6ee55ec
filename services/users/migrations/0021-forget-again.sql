-- The generation of the stream (see `published`) that was cleaned. A stream that was lost or set back since may have
-- events of the user again.
alter table forgettings add column stream_generation int;

update forgettings set stream_generation = (select generation from published) where stream_at is not null;

create index forgettings_by_removal on forgettings (removed_at) where forget_at is null;

-- A removed organization takes all its users with it. No column of the index changes, nor one of its condition.
create index users_of_organization on aggregates (organization_id, id) where type = 'user';
drop index forgettings_of_organization;

-- PostgreSQL's statistics sample values in plain, and keep them. The change of the type, which is none, drops those that
-- are there: former addresses, which nobody stores any more.
alter table unsent_mails alter column address set statistics 0, alter column address type text;
