-- The tokens that end with their user's use, or with the user.
create index tokens_by_user on tokens (user_id);
