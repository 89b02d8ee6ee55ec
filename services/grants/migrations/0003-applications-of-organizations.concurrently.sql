create index concurrently if not exists applications_of_organization
on applications (organization_id, canonical_name, application_id);

create index concurrently if not exists applications_by_text
on applications using gin (organization_id, canonical_name gin_trgm_ops);
