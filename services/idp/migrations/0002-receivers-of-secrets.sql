-- Whom a secret was given for: it goes to nobody else, whatever the record of its provider says later. Null in rows of
-- before, until the record names another receiver.
alter table client_secrets add column receiver text;
