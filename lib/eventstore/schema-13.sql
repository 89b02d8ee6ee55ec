-- Whom the last walk through all people passed over, because no key opens what is sealed of them.
alter table sealing
  -- Walks that came to their end.
  add walks bigint not null default 0,
  add skipped bigint not null default 0,
  -- Those of them who still have something plain, which hinders the end.
  add hindering bigint not null default 0,
  -- Some of them, these first.
  add skipped_ids text[] not null default '{}';
