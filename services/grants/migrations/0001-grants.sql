-- Who holds which roles where; the instance is named by its own id.
create table memberships (
  user_id text not null,
  organization_id text not null,
  roles text[] not null,
  primary key (user_id, organization_id)
);
