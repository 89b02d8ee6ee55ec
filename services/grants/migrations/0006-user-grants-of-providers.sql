-- The identity provider whose table gave a user grant. Empty: somebody gave it.
alter table user_grants add column idp_id text collate "C" not null default '';
