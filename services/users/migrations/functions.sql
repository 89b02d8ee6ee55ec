-- Seconds until all limits have a token. limits: [{"key": hex, "most": at once, "pause": seconds for each further one,
-- "kind": "always", or "meter", which stops no one, or "metered", which holds while a meter is over}]
create or replace function turns_wait(limits jsonb) returns float8 language sql volatile as $$
  with waits as (
    select kind, extract(epoch from paid_until - roster_moment())::float8 - (most - 1) * pause as wait
    from jsonb_to_recordset(limits) as l (key text, most float8, pause float8, kind text)
    join turns t on t.key = decode(l.key, 'hex')
  )
  select greatest(0, max(wait)) from waits
  where kind = 'always' or (kind = 'metered' and exists (select from waits where kind = 'meter' and wait > 0))
$$;

-- Takes a token under each limit, or none, and then returns how many seconds to wait.
create or replace function take_turns(limits jsonb) returns float8 language plpgsql as $$
declare
  wait float8 := turns_wait(limits);
begin
  -- A caller that comes too early gets the answer without a lock.
  if wait > 0 then
    return wait;
  end if;
  -- Locks them, in one order, so that two cannot wait for each other.
  insert into turns as t (key, paid_until)
  select decode(key, 'hex'), roster_moment() from jsonb_to_recordset(limits) as l (key text) order by 1
  on conflict (key) do update set paid_until = t.paid_until;
  wait := turns_wait(limits);
  if wait > 0 then
    return wait;
  end if;
  update turns t set paid_until = greatest(t.paid_until, roster_moment()) + make_interval(secs => l.pause)
  from jsonb_to_recordset(limits) as l (key text, pause float8)
  where t.key = decode(l.key, 'hex');
  return 0;
end
$$;

-- Stores tokens of sessions (rows of tokens, each with "most") and takes away the oldest where a user would have more than so many.
create or replace function store_session_tokens(sessions jsonb) returns void language plpgsql as $$
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
    -- The ids are UUIDs of version 7, which hold the time.
    select t.session_id, l.most, row_number() over (
      partition by user_id
      order by exists (select from jsonb_to_recordset(sessions) as s (session_id text) where s.session_id = t.session_id) desc, t.session_id desc
    ) as place
    from tokens t join limits l using (user_id)
    where t.session_id <> '' and t.expires_at > roster_now()
  ), gone as (
    delete from tokens t using ranked r
    where t.session_id <> '' and t.session_id = r.session_id and r.place > r.most
    returning t.session_id, t.user_id
  )
  insert into surplus_sessions (session_id, user_id) select session_id, user_id from gone on conflict do nothing;
end
$$;

-- What a transaction writes beside its events, so that all of it is one statement. Each function takes a list of rows.

-- A row without a code: none is unsent.
create or replace function keep_unsent_codes(rows json) returns void language plpgsql as $$
begin
  delete from unsent_email_codes where user_id = any(array(
    select user_id from json_populate_recordset(null::unsent_email_codes, rows) where code_id is null
  ));
  insert into unsent_email_codes
  select * from json_populate_recordset(null::unsent_email_codes, rows) where code_id is not null
  on conflict (user_id) do update
  set code_id = excluded.code_id, requested_at = excluded.requested_at, expires_at = excluded.expires_at;
end
$$;

create or replace function forget_unsent_resets(rows json) returns void language plpgsql as $$
begin
  delete from unsent_mails
  where user_id = any(array(select user_id from json_to_recordset(rows) as r (user_id text)))
    and kind = 'password-reset';
end
$$;

create or replace function find_users_exactly(rows json) returns void language plpgsql as $$
begin
  insert into found_users select * from json_populate_recordset(null::found_users, rows)
  on conflict (user_id) do update set
    state = excluded.state, user_name = excluded.user_name, first_name = excluded.first_name,
    last_name = excluded.last_name, nick_name = excluded.nick_name, display_name = excluded.display_name,
    exact = excluded.exact;
end
$$;

create or replace function find_addresses_exactly(rows json) returns void language plpgsql as $$
begin
  insert into found_addresses select * from json_populate_recordset(null::found_addresses, rows)
  on conflict (user_id) do update set email = excluded.email, exact = excluded.exact;
end
$$;

create or replace function forget_found_users(rows json) returns void language plpgsql as $$
declare
  users text[] := array(select user_id from json_to_recordset(rows) as r (user_id text));
begin
  delete from found_users where user_id = any(users);
  delete from found_addresses where user_id = any(users);
end
$$;

create or replace function keep_tokens(rows json) returns void language plpgsql as $$
begin
  insert into tokens select * from json_populate_recordset(null::tokens, rows);
end
$$;
