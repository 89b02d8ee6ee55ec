-- The logo of each login policy that has one, of an organization or of the instance.
create table logos (
  organization_id text collate "C" primary key,
  -- SHA-256 of the content.
  hash bytea not null,
  content bytea not null
);

create index logos_by_hash on logos (hash);
