-- Mails that wait, beside those with verification codes: codes for forgotten passwords, and notices of changed
-- addresses.
create table unsent_mails (
  -- The id of the code or the notice.
  mail_id text primary key,
  user_id text not null,
  -- `password-reset` or `email-changed`.
  kind text not null,
  requested_at timestamptz not null,
  expires_at timestamptz not null,
  -- Of a notice: the former address.
  address text
);

create index unsent_mails_by_user on unsent_mails (user_id, kind);
create index unsent_mails_by_end on unsent_mails (expires_at);

-- Since when a user has its address. Older changes have no effect any more.
update aggregates a
set state = jsonb_set(
  a.state, '{human,emailSince}', to_jsonb(to_char(e.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
)
from (
  select aggregate_id, max(created_at) as at from events
  where aggregate_type = 'user' and type = 'email.changed' and created_at > now() - interval '30 days'
  group by aggregate_id
) e
where a.type = 'user' and a.id = e.aggregate_id and a.state ? 'human' and not a.state -> 'human' ? 'emailSince';
