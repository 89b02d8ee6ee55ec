-- Whether anybody has one: a page of Roster itself, which people of each organization open, offers it then.
create index concurrently if not exists user_factors_passkeys on user_factors (user_id) where kind = 'passkey';
