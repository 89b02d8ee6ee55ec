-- Mails that left and did not reach their mailbox, by the id of their code or notice. Beside `deliveries`, because a bounce
-- may come before the mail's own row.
create table mail_bounces (
  code_id text primary key,
  bounced_at timestamptz not null,
  -- Of RFC 3463, such as 5.1.1, or empty.
  status text not null,
  reason text not null
);

-- PostgreSQL's statistics keep samples after their rows have changed.
alter table mail_bounces alter column reason set statistics 0;
