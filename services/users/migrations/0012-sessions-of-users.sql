-- The living sessions of a user, the newest first.
create index tokens_by_user_and_session on tokens (user_id, session_id) where session_id <> '';
