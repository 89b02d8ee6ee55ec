-- What is over is found by its end, however much there is.
create index tokens_by_end on tokens (expires_at) where expires_at is not null;
create index sign_in_attempts_by_end on sign_in_attempts (window_end);
