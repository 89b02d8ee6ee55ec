-- Organizations as searches look for them. `fillOrganizations` adds those of earlier versions, because only the service
-- knows the form in which names are compared.
create table organizations (
  organization_id text collate "C" primary key,
  created_at timestamptz not null,
  inactive boolean not null,
  primary_domain text collate "C" not null,
  name text not null,
  canonical_name text collate "C" not null
);

create index organizations_by_age on organizations (created_at, organization_id);
create index organizations_by_name on organizations (canonical_name, organization_id);
create index organizations_by_state_and_age on organizations (inactive, created_at, organization_id);
create index organizations_by_state_and_name on organizations (inactive, canonical_name, organization_id);
create index organizations_by_domain on organizations (primary_domain);
create index organizations_by_text on organizations using gin (canonical_name gin_trgm_ops);
