-- The session of a token lacked a factor when it was stored. Null: it did not, or it is no session.
alter table tokens add column partial boolean;
