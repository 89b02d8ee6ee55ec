-- The authorization that an access token of a person belongs to; null for all other tokens.
alter table tokens add column authorization_id text;
