-- Kinds of unique keys of which it is known which scope had a key first.
create table first_key_kinds (
  kind text primary key,
  -- Whether the keys of earlier versions are in `first_keys`.
  filled boolean not null default false
);

-- The first scope of each such key, until it gives the key up. No other scope inherits it: the next one that claims the
-- key is the first one then.
create table first_keys (
  kind text not null,
  key text not null,
  scope text not null,
  primary key (kind, key),
  foreign key (kind, scope, key) references unique_keys on delete cascade
);
