-- Calls that were refused within the last hour, so that they can be explained. Nothing is lost with them: the table
-- takes no part in the log of PostgreSQL, and is empty after a crash.
create unlogged table refused_calls (
  user_id text not null,
  -- As the call named it: there may be none.
  organization_id text not null,
  -- Callers may choose it.
  request_id text not null,
  method text not null,
  -- Empty where the request named none.
  project_id text not null,
  refused_at timestamptz not null,
  primary key (user_id, organization_id, request_id)
);

create index refused_calls_of_user on refused_calls (user_id, refused_at);
create index refused_calls_by_age on refused_calls (refused_at);
