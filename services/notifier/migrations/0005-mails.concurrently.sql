-- The mails of an organization, newest first, and those of a user who is erased.
create index concurrently if not exists deliveries_mails on deliveries (organization_id, position) where kind = 'mail';
create index concurrently if not exists deliveries_mails_of_user on deliveries (user_id) where kind = 'mail';
