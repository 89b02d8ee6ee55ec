-- What the ids of messages in the stream are made with. The stream drops a message whose id it knows, whoever put it there, so nobody
-- else may know the ids that are to come.
alter table published add message_key text not null default gen_random_uuid()::text || gen_random_uuid()::text;

-- What was sent under an id of former times is looked for before it is sent again.
update published set in_doubt = true;
