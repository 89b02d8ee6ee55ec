create index concurrently if not exists sign_in_records_of_organization
on sign_in_records (organization_id, at, id);

create index concurrently if not exists sign_in_records_of_client
on sign_in_records (organization_id, client_id, at, id);

create index concurrently if not exists sign_in_failures_of_organization
on sign_in_failures (organization_id, hour, user_id, cause);
