-- What may be done so often only: when it was done, by what it is counted by.
create table uses (
  key text not null,
  used_at timestamptz not null
);

create index uses_by_key on uses (key, used_at);
create index uses_by_age on uses (used_at);
