-- Whose they are. Those of before have none, and are found by their person alone.
alter table sign_in_records add column organization_id text collate "C" not null default '';
alter table sign_in_failures add column organization_id text collate "C" not null default '';
