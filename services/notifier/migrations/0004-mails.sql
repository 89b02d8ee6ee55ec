-- What a mail is for, and what the mail server said of it. All null for a delivery of another kind, and for a mail of before.
alter table deliveries add column mail_kind text;
alter table deliveries add column reply text;
-- Of a mail that was tried and is queued again.
alter table deliveries add column retry_at timestamptz;
