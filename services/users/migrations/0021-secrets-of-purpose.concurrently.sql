-- Look-ups by what a secret is for. Kinds without it have no place in it.
create index concurrently if not exists secrets_of_purpose on secrets (user_id, kind, purpose) where purpose is not null;
