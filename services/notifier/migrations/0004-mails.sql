-- What the mail server said of a mail. All null for a delivery of another kind.
alter table deliveries add column mail_kind text;
alter table deliveries add column reply text;
-- Of a mail that was tried and is queued again.
alter table deliveries add column retry_at timestamptz;
