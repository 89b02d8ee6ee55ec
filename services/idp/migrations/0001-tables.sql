-- The tables of the service idp, beside those of the event store.

-- Client secrets of the providers, encrypted: no event holds them.
create table client_secrets (
  idp_id text primary key,
  sealed bytea not null
);

-- The providers that there are, for searches, and for the removal of all that an organization has.
create table idps (
  idp_id text primary key,
  -- The instance, or an organization.
  organization_id text not null,
  name text not null,
  -- The name in the form in which names are compared.
  canonical_name text collate "C" not null,
  protocol text not null check (protocol in ('oidc', 'jwt', 'oauth', 'saml', 'ldap')),
  inactive boolean not null,
  created_at timestamptz not null
);

create index idps_by_name on idps (organization_id, canonical_name, idp_id);
create index idps_by_name_in_type on idps (organization_id, protocol, canonical_name, idp_id);
create index idps_by_name_in_state on idps (organization_id, inactive, canonical_name, idp_id);
create index idps_by_text on idps using gin (organization_id, canonical_name gin_trgm_ops);
create index idps_by_age on idps (organization_id, created_at, idp_id);
-- The removal of an organization goes through its providers by their ids. Otherwise each portion would read all of them.
create index idps_by_id on idps (organization_id, idp_id);
