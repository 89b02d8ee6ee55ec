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

-- PostgreSQL lower-cases some letters in another way. So the name in that form comes from the unique key.
insert into idps (idp_id, organization_id, name, canonical_name, protocol, inactive, created_at)
select id, organization_id, state ->> 'name', key, 'oidc', false, created_at
from aggregates join unique_keys on kind = 'idp_name' and aggregate_id = id
where type = 'idp';
