-- Of the kinds that one-time-codes.ts keeps. Their subject is `user_id`.
alter table secrets
  -- What it is for: the id of a session, or of a request. There is one of each kind of a user for it. Null: of another kind.
  add column purpose text,
  -- The only browser that may use it. Null: it is bound to none.
  add column browser_id text,
  add column tries int not null default 0;
