-- Living users as searches look for them. Names and addresses are in the form in which they are compared. `fillFoundUsers`
-- adds the users of earlier versions, since only the service itself knows that form.
create table found_users (
  user_id text collate "C" primary key,
  organization_id text not null,
  created_at timestamptz not null,
  -- Numbers of proto/: UserState and Type.
  state smallint not null,
  type smallint not null,
  user_name text collate "C" not null,
  -- Empty for a machine.
  first_name text collate "C" not null,
  last_name text collate "C" not null,
  nick_name text collate "C" not null,
  -- The name of a machine.
  display_name text collate "C" not null
);

create index found_users_by_age on found_users (organization_id, created_at, user_id);
create index found_users_by_user_name on found_users (organization_id, user_name, user_id);
create index found_users_by_first_name on found_users (organization_id, first_name, user_id);
create index found_users_by_last_name on found_users (organization_id, last_name, user_id);
create index found_users_by_display_name on found_users (organization_id, display_name, user_id);
create index found_users_by_text on found_users using gin (
  organization_id, user_name gin_trgm_ops, first_name gin_trgm_ops, last_name gin_trgm_ops, nick_name gin_trgm_ops,
  display_name gin_trgm_ops
);
-- Over all organizations.
create index all_found_users_by_age on found_users (created_at, user_id);
create index all_found_users_by_user_name on found_users (user_name, user_id);

-- Their addresses. They change more often than names, and a change of a row changes all indexes of its table.
create table found_addresses (
  user_id text collate "C" primary key,
  organization_id text not null,
  -- Empty for a machine.
  email text collate "C" not null
);

create index found_addresses_by_email on found_addresses (organization_id, email, user_id);
create index found_addresses_by_text on found_addresses using gin (organization_id, email gin_trgm_ops);

-- Whether the users of earlier versions are in both.
create table found_users_filled (only_row boolean primary key default true check (only_row));
