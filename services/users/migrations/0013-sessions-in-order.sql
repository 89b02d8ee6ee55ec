-- No other index is in the order of code points. Otherwise PostgreSQL would take that of all sessions for a user with
-- many other tokens.
drop index tokens_by_user_and_session;
create index tokens_by_user_and_session on tokens (user_id, session_id collate "C") where session_id <> '';
