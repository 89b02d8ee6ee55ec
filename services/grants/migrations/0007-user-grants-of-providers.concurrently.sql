create index concurrently if not exists user_grants_of_provider on user_grants (idp_id, grant_id) where idp_id <> '';
