-- Turns that were taken: each pushes the time on by the pause of its limit, from now at the earliest. How far the time lies ahead
-- says how many were taken of late.
create table turns (
  -- A MAC: neither names nor addresses can be read here.
  key bytea primary key,
  paid_until timestamptz not null
) with (fillfactor = 70);

create index turns_by_end on turns (paid_until);

-- Seconds until all limits let the next turn pass. limits: [{"key": hex, "most": at once, "pause": seconds for each further one,
-- "kind": "always", or "meter", which stops nobody, or "metered", which holds while a meter is over}]
create function turns_wait(limits jsonb) returns float8 language sql volatile as $$
  with waits as (
    select kind, extract(epoch from paid_until - clock_timestamp())::float8 - (most - 1) * pause as wait
    from jsonb_to_recordset(limits) as l (key text, most float8, pause float8, kind text)
    join turns t on t.key = decode(l.key, 'hex')
  )
  select greatest(0, max(wait)) from waits
  where kind = 'always' or (kind = 'metered' and exists (select from waits where kind = 'meter' and wait > 0))
$$;

-- Takes a turn under each limit, or none, and then says how many seconds to wait.
create function take_turns(limits jsonb) returns float8 language plpgsql as $$
declare
  wait float8 := turns_wait(limits);
begin
  -- Whoever comes too early is told so without a lock.
  if wait > 0 then
    return wait;
  end if;
  -- Locks them, in one order, so that two cannot wait for each other.
  insert into turns as t (key, paid_until)
  select decode(key, 'hex'), clock_timestamp() from jsonb_to_recordset(limits) as l (key text) order by 1
  on conflict (key) do update set paid_until = t.paid_until;
  wait := turns_wait(limits);
  if wait > 0 then
    return wait;
  end if;
  update turns t set paid_until = greatest(t.paid_until, clock_timestamp()) + make_interval(secs => l.pause)
  from jsonb_to_recordset(limits) as l (key text, pause float8)
  where t.key = decode(l.key, 'hex');
  return 0;
end
$$;

-- Where a user signed in from, the last few addresses.
create table known_addresses (
  user_id text not null,
  -- A MAC of the address, and the encryption key that it was made with.
  address bytea not null,
  key_id text not null,
  used_at timestamptz not null default now(),
  primary key (user_id, address)
);

create index known_addresses_by_use on known_addresses (used_at);

-- Sessions whose token is gone because their user has newer ones, and whose end is yet to be told.
create table surplus_sessions (
  session_id text primary key,
  user_id text not null
);

create index surplus_sessions_by_user on surplus_sessions (user_id);

-- Stores tokens of sessions (rows of tokens, each with "most") and takes away the oldest where a user would have more than so many.
create function store_session_tokens(sessions jsonb) returns void language plpgsql as $$
begin
  -- In one order; what others stored meanwhile is seen by the statements below.
  perform pg_advisory_xact_lock(hashtextextended(concat_ws('/', current_schema(), 'sessions', user_id), 0))
  from (
    select distinct user_id from jsonb_to_recordset(sessions) as s (user_id text) order by 1
  ) users;

  insert into tokens select * from jsonb_populate_recordset(null::tokens, sessions);

  with limits as (
    select user_id, min(most) as most from jsonb_to_recordset(sessions) as s (user_id text, most int) group by 1
  ), ranked as (
    -- The ids are UUIDs of version 7, which tell the time.
    select t.session_id, l.most, row_number() over (
      partition by user_id
      order by exists (select from jsonb_to_recordset(sessions) as s (session_id text) where s.session_id = t.session_id) desc, t.session_id desc
    ) as place
    from tokens t join limits l using (user_id)
    where t.session_id <> '' and t.expires_at > now()
  ), gone as (
    delete from tokens t using ranked r
    where t.session_id <> '' and t.session_id = r.session_id and r.place > r.most
    returning t.session_id, t.user_id
  )
  insert into surplus_sessions (session_id, user_id) select session_id, user_id from gone on conflict do nothing;
end
$$;
