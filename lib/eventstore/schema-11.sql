-- The key of each person, with which the personal fields of its events and its states are sealed. The service's own
-- encryption key wraps it. Whoever deletes a row forgets that person.
create table subject_keys (
  subject_id text collate "C" primary key,
  wrapped bytea not null,
  created_at timestamptz not null default now()
);

-- Only of a service with data of people.
create table sealing (
  only_row boolean primary key default true check (only_row),
  -- `off`: nothing is sealed. `begun`: new rows are, and earlier ones are on their way. `on`: no row is plain.
  phase text not null,
  -- Makes unique keys of names. The service's encryption key seals it.
  secret bytea not null,
  -- Set where an operator asked for it.
  wanted boolean not null default false,
  -- How many people have their rows sealed by now, and how many have not.
  sealed bigint not null default 0,
  remaining bigint not null default 0
);
