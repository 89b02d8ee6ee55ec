-- When each step of a sign-in was last taken at an application. A lost row is a step that is not shown.
create table application_steps (
  application_id text collate "C" not null,
  step text collate "C" not null,
  at timestamptz not null,
  primary key (application_id, step)
);

create index application_steps_by_time on application_steps (at);

-- Requests that were refused to an application: a thousand at most.
create table application_refusals (
  application_id text collate "C" not null,
  -- A UUID of version 7.
  id uuid not null,
  at timestamptz not null,
  cause text not null,
  parameter text not null,
  sent text not null,
  allowed text[] not null,
  description text not null,
  count integer not null,
  left_out integer not null,
  primary key (application_id, id)
);

create index application_refusals_by_time on application_refusals (at);
