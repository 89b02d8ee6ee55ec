-- A session may stand on several providers, and each one ends it. The last is the one that a sign-out leads on to.
alter table provider_sessions add column proved_at timestamptz not null default 'epoch',
  drop constraint provider_sessions_pkey, add primary key (session_id, idp_id);

-- Who gets what is secret of a provider, by its addresses: kept tokens are good only as long as it is the one that gave them.
alter table identity_providers add column receiver text;

-- Whom a provider has proved, by hashes, and in which session there: its sign-out ends that. Null: nobody was proved yet, or it
-- does not say.
alter table provider_intents add column idp_id text collate "C", add column subject text collate "C",
  add column sid text collate "C";

create index provider_intents_of_subjects on provider_intents (idp_id, subject);
