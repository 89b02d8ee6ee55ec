-- The access tokens that end with their authorization. Those of sessions and machines have no place in it.
create index concurrently if not exists tokens_of_authorization on tokens (authorization_id)
where authorization_id is not null;
