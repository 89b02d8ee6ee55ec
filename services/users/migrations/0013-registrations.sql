-- Of the mail of a registration, whose `kind` is `registration`: the organization that somebody registers in. There is no
-- user yet, and `user_id` is the request that it belongs to. The registration itself is a secret, of no user.
alter table unsent_mails add column organization_id text;
