-- By which session at an identity provider a session was opened: the provider says when that is over.
create table provider_sessions (
  session_id text collate "C" primary key,
  idp_id text collate "C" not null,
  user_id text collate "C" not null,
  -- The hash of issuer and session there. Null: the provider does not say.
  sid text collate "C"
);

create index provider_sessions_of_user on provider_sessions (user_id, idp_id);
create index provider_sessions_of_sid on provider_sessions (idp_id, sid);
