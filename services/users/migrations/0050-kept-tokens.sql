-- What a provider gave for the person of a session, encrypted by the person's key. Null: nothing is kept.
alter table provider_sessions add column tokens text;

-- Whether the record of a provider says that tokens are kept, and that a sign-out here leads on to the sign-out there.
alter table identity_providers add column keeps_tokens boolean not null default false,
  add column logs_out boolean not null default false;
