-- Failed sign-ins of humans within a minute. Its first event is told, and its count is to come.
create table failed_sign_ins (
  user_id text primary key,
  -- Of that event among those of `user.signin`.
  sequence bigint not null,
  since timestamptz not null default now(),
  count int not null default 1,
  -- No further one is counted.
  closed boolean not null default false
);

create index failed_sign_ins_by_begin on failed_sign_ins (since);
