-- Sign-ins at identity providers that login applications begin for pages of their own. They live for minutes.
create table provider_intents (
  id text collate "C" primary key,
  -- Who began it: nobody else gets what it proves.
  caller_id text collate "C" not null,
  -- The browser that opened it first. Null: none has.
  browser_id text,
  -- What was asked for, what binds the answer, and whom it proved: encrypted.
  progress bytea not null,
  -- Of the token that its end has. Null: nobody was proved yet.
  token_hash bytea,
  began_at timestamptz not null,
  expires_at timestamptz not null
);

create index provider_intents_of_callers on provider_intents (caller_id, expires_at);
create index provider_intents_of_browsers on provider_intents (browser_id);
create index provider_intents_by_end on provider_intents (expires_at);
