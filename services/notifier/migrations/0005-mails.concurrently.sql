-- The mails of an organization, newest first, and those of a user. Every mail has a kind. The condition is a column that no
-- statement about waiting mails names: beside their indexes, PostgreSQL may take one of `kind = 'mail'` for these, as long as
-- it has only seen a small table, and read all mails for each one.
create index concurrently if not exists deliveries_mails on deliveries (organization_id, position) where mail_kind is not null;
create index concurrently if not exists deliveries_mails_of_user on deliveries (user_id, position) where mail_kind is not null;
