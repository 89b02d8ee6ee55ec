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

-- Takes a token under each limit, or none, and then returns how many seconds to wait. Its commit does not wait for the
-- WAL: that of the work that follows does, for both. Where none follows, a crash may forget what was taken.
create or replace function take_turns(limits jsonb) returns float8 language plpgsql as $$
declare
  wait float8 := turns_wait(limits);
begin
  -- A caller that comes too early gets the answer without a lock.
  if wait > 0 then
    return wait;
  end if;
  perform set_config('synchronous_commit', 'off', true);
  -- Locks them, in one order, so that two cannot wait for each other.
  insert into turns as t (key, paid_until, owner, spare)
  select decode(key, 'hex'), roster_moment(), decode(owner, 'hex'), (most - 1) * pause
  from jsonb_to_recordset(limits) as l (key text, owner text, most float8, pause float8) order by 1
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

-- Returns a token to the bucket of every limit, in the order in which take_turns locks them. Its commit does not wait for
-- the WAL either.
create or replace function return_turns(limits jsonb) returns void language plpgsql as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  perform return_taken_turns(json_build_array(json_build_object('limits', limits)));
end
$$;

-- The same, of the `limits` of all rows, with what a transaction writes beside its events.
create or replace function return_taken_turns(rows json) returns void language plpgsql as $$
begin
  update turns t set paid_until = t.paid_until - make_interval(secs => locked.pause)
  from (
    select key, l.pause from turns join (
      select decode(key, 'hex') as key, sum(pause) as pause
      from json_to_recordset(rows) as r (limits jsonb), jsonb_to_recordset(limits) as l (key text, pause float8)
      group by 1
    ) l using (key)
    order by key
    for update of turns
  ) locked
  where t.key = locked.key;
end
$$;

-- Notes which session an application used last in a browser. Of more than a hundred applications, the oldest is forgotten.
create or replace function note_browser_use(browser text, application text, session text) returns void language sql as $$
  insert into browser_uses (browser_id, application_id, session_id, used_at) values ($1, $2, $3, roster_now())
  on conflict (browser_id, application_id) do update set session_id = excluded.session_id, used_at = excluded.used_at;
  delete from browser_uses where browser_id = $1 and application_id in (
    select application_id from browser_uses where browser_id = $1 order by used_at desc offset 100
  );
  update browser_sessions set used_at = roster_now() where browser_id = $1 and session_id = $3;
$$;

-- The browser with this hash, or else a new one.
create or replace function find_or_make_browser(new_id text, of_hash bytea) returns text language sql as $$
  insert into browsers (id, hash, seen_at) values ($1, $2, roster_now())
  on conflict (hash) do update set seen_at = excluded.seen_at returning id;
$$;

-- The same. What begins in it waits for the WAL, for both.
create or replace function make_browser(new_id text, of_hash bytea) returns text language plpgsql as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  return find_or_make_browser(new_id, of_hash);
end
$$;

-- Gives browsers another value, each where it still has this one.
create or replace function renew_browsers(rows json) returns void language plpgsql as $$
begin
  update browsers b set hash = decode(r.new_hash, 'hex'), former_hash = b.hash, seen_at = roster_now(),
    former_until = roster_now() + interval '60 seconds'
  from json_to_recordset(rows) as r (id text, hash text, new_hash text)
  where b.id = r.id and b.hash = decode(r.hash, 'hex');
end
$$;

-- Gives browsers the session of a user. With more than ten, the one used least ends: its event follows, as that of a surplus
-- session.
create or replace function keep_browser_sessions(rows json) returns void language plpgsql as $$
declare
  kept record;
begin
  for kept in select * from json_to_recordset(rows) as r (browser_id text, user_id text, session_id text) loop
    insert into browser_sessions (browser_id, user_id, session_id, used_at)
    values (kept.browser_id, kept.user_id, kept.session_id, roster_now())
    on conflict (browser_id, user_id) do update set session_id = excluded.session_id, used_at = excluded.used_at;

    with surplus as (
      delete from browser_sessions where browser_id = kept.browser_id and session_id in (
        select session_id from browser_sessions
        where browser_id = kept.browser_id and session_id <> kept.session_id
        order by used_at desc offset 9
      )
      returning session_id
    ), gone as (
      delete from tokens where session_id <> '' and session_id in (select session_id from surplus)
      returning session_id, user_id
    )
    insert into surplus_sessions (session_id, user_id) select session_id, user_id from gone on conflict do nothing;
  end loop;
end
$$;

-- Stores records of sign-ins. A person has a thousand at most: the oldest go.
create or replace function keep_sign_in_records(rows json) returns void language plpgsql as $$
declare
  kept record;
begin
  for kept in select * from json_to_recordset(rows) as r (
    user_id text, id uuid, session_id text, client_id text, factor text, partial boolean, client text
  ) loop
    delete from sign_in_records where user_id = kept.user_id and id <= (
      select id from sign_in_records where user_id = kept.user_id order by id desc offset 999 limit 1
    );
    insert into sign_in_records
      (user_id, id, at, session_id, client_id, factors, partial, client, organization_id)
    values (
      kept.user_id, kept.id, roster_now(), kept.session_id, kept.client_id, array[kept.factor], kept.partial, kept.client,
      coalesce((select organization_id from aggregates where type = 'user' and id = kept.user_id), '')
    );
  end loop;
end
$$;

-- Goes on with open requests: what the page of each shows next, its session, and its answer where it has one.
create or replace function advance_requests(rows json) returns void language plpgsql as $$
begin
  update authorization_requests a
  set progress = decode(r.progress, 'hex'), session_id = r.session_id, user_id = r.user_id, answer = r.answer
  from json_to_recordset(rows) as r (id text, progress text, session_id text, user_id text, answer text)
  where a.id = r.id and a.answer is null;
end
$$;

-- The same as `note_browser_use` of each row.
create or replace function note_browser_uses(rows json) returns void language plpgsql as $$
begin
  perform note_browser_use(browser_id, application_id, session_id)
  from json_to_recordset(rows) as r (browser_id text, application_id text, session_id text);
end
$$;

-- Stores tokens of sessions (rows of tokens, each with "most") and takes away the oldest where a user would have more than so
-- many; of those that lack a factor, which somebody may begin with a password alone, more than twenty. Neither makes place
-- for the other.
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
    select t.session_id, case when t.partial then least(l.most, 20) else l.most end as most, row_number() over (
      partition by user_id, t.partial is true
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

-- The same, as what a transaction writes beside its events.
create or replace function keep_session_tokens(rows json) returns void language plpgsql as $$
begin
  perform store_session_tokens(rows::jsonb);
end
$$;

-- Stores a half-done session, and deletes what its user has beyond so many: of the networks that began most, the oldest.
-- So nobody ends those of others by beginning many.
create or replace function begin_half_done_session(
  session_id text, user_id text, organization_id text, hash bytea, lifetime int, seconds int, most int, network bytea
) returns timestamptz language sql as $$
  select pg_advisory_xact_lock(hashtextextended(concat_ws('/', current_schema(), 'half-done sessions', $2), 0));
  insert into half_done_sessions (session_id, user_id, organization_id, hash, lifetime, began_at, expires_at, network)
  values ($1, $2, $3, $4, $5, roster_now(), roster_now() + make_interval(secs => $6), $8);
  delete from half_done_sessions h where h.session_id in (
    select s.session_id from half_done_sessions s where s.user_id = $2
    order by row_number() over (partition by s.network order by s.session_id desc), s.session_id desc
    offset $7
  );
  select began_at from half_done_sessions where session_id = $1;
$$;

-- 0 where the half-done session has this token. It stays until the transaction ends.
create or replace function count_half_done_sessions(of jsonb, most int) returns int language plpgsql as $$
begin
  perform from half_done_sessions h
  where session_id = of ->> 'id' and hash = decode(of ->> 'hash', 'hex') and expires_at > roster_now()
    and not coalesce((
      select h.began_at <= o.changed_at from aggregates o where o.type = 'user_organization' and o.id = h.organization_id
    ), false)
  for update;
  return case when found then 0 else 1 end;
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

-- Stores codes for tokens: {id, user_id, lifetime in seconds, detail in base64}.
create or replace function keep_codes(rows json) returns void language plpgsql as $$
begin
  insert into secrets (kind, id, user_id, expires_at, detail)
  select 'code', id, user_id, roster_now() + make_interval(secs => lifetime), decode(detail, 'base64')
  from json_to_recordset(rows) as r (id text, user_id text, lifetime int, detail text);
end
$$;

-- Keeps a one-time code in place of the one before it for the same purpose. A user has at most so many of a kind: those go
-- that end first.
create or replace function keep_one_time_code(
  kind text, id text, user_id text, purpose text, browser_id text, expires_at timestamptz, detail bytea, most int
) returns void language sql as $$
  select pg_advisory_xact_lock(hashtextextended(concat_ws('/', current_schema(), 'secrets', $1, $3), 0));
  delete from secrets s where s.user_id = $3 and s.kind = $1 and s.purpose = $4;
  delete from secrets s where s.kind = $1 and s.id in (
    select o.id from secrets o where o.user_id = $3 and o.kind = $1 and o.purpose is not null
    order by o.expires_at desc, o.id offset $8 - 1
  );
  insert into secrets (kind, id, user_id, purpose, browser_id, expires_at, detail) values ($1, $2, $3, $4, $5, $6, $7);
$$;

create or replace function keep_tokens(rows json) returns void language plpgsql as $$
begin
  insert into tokens select * from json_populate_recordset(null::tokens, rows);
end
$$;

-- Stores authorizations. The oldest go where there would be more than ten of a session with an application, or more than
-- fifty with refresh tokens of a user with an application; those that come go last.
create or replace function keep_authorizations(rows json) returns void language plpgsql as $$
begin
  -- In one order; what others stored meanwhile is seen by the statements below.
  perform pg_advisory_xact_lock(hashtextextended(concat_ws('/', current_schema(), 'authorizations', user_id, application_id), 0))
  from (
    select distinct user_id, application_id from json_populate_recordset(null::authorizations, rows) order by 1, 2
  ) pairs;

  insert into authorizations select * from json_populate_recordset(null::authorizations, rows);
  -- Where a session has a hundred, no further one is told of its end.
  insert into session_applications (session_id, application_id)
  select distinct r.session_id, r.application_id
  from json_to_recordset(rows) as r (session_id text, application_id text, has_id_token boolean)
  where r.has_id_token
    and (select count(*) from session_applications s where s.session_id = r.session_id) < 100
  on conflict do nothing;
  -- The code is used.
  delete from secrets where kind = 'code' and id = any(array(
    -- Otherwise the index of another collation would not serve, here and below.
    select authorization_id collate "default" from json_populate_recordset(null::authorizations, rows)
  ));

  with new as materialized (
    select * from json_populate_recordset(null::authorizations, rows)
  ), ranked as (
    select a.authorization_id, a.offline, row_number() over (
      partition by user_id, application_id, a.offline, case when not a.offline then a.session_id end
      order by exists (select from new n where n.authorization_id = a.authorization_id) desc, a.authorization_id desc
    ) as place
    from authorizations a join (select distinct user_id, application_id from new) pairs using (user_id, application_id)
  ), gone as (
    delete from authorizations a using ranked r
    where a.authorization_id = r.authorization_id and r.place > case when r.offline then 50 else 10 end
    returning a.authorization_id, a.user_id
  ), without_tokens as (
    delete from tokens where authorization_id in (select authorization_id collate "default" from gone)
  )
  insert into surplus_authorizations (authorization_id, user_id, reason)
  select authorization_id, user_id, 'surplus' from gone on conflict do nothing;
end
$$;

-- Takes away the authorizations that end with these sessions, or all of these users but those of a kept session, and
-- their access tokens. Their events follow.
create or replace function drop_authorizations(rows json) returns void language plpgsql as $$
begin
  with over as (
    select * from json_to_recordset(rows) as r (session_id text, user_id text, kept_session_id text, reason text)
  ), gone as (
    delete from authorizations a using over o
    where (a.session_id = o.session_id and a.session_bound)
      or (a.user_id = o.user_id and a.session_id is distinct from o.kept_session_id)
    returning a.authorization_id, a.user_id, o.reason
  ), without_tokens as (
    delete from tokens where authorization_id in (select authorization_id collate "default" from gone)
  )
  insert into surplus_authorizations (authorization_id, user_id, reason)
  select authorization_id, user_id, reason from gone on conflict do nothing;
end
$$;

-- Takes away all that is left of authorizations that ended.
create or replace function forget_authorizations(rows json) returns void language plpgsql as $$
declare
  ids text[] := array(select authorization_id from json_to_recordset(rows) as r (authorization_id text));
begin
  delete from authorizations where authorization_id = any(ids);
  delete from tokens where authorization_id = any(ids);
  delete from secrets where kind = 'code' and id = any(ids);
end
$$;

-- Stores an authorization request, and deletes the oldest of its browser, of its address and of its network beyond so many
-- (by size: each has units).
create or replace function begin_authorization_request(
  id text, browser_id text, address bytea, network bytea, units int, parameters bytea, session_id text, user_id text,
  restarts boolean, lifetime int, most_of_browser int, most_of_address int, most_of_network int, finished_by text
) returns void language sql as $$
  insert into authorization_requests
    (id, browser_id, address, network, units, parameters, session_id, user_id, restarts, began_at, expires_at, finished_by)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, roster_now(), roster_now() + make_interval(secs => $10), $14);
  delete from authorization_requests where id in (
    select id from authorization_requests where browser_id = $2 order by began_at desc offset $11
  );
  delete from authorization_requests where id in (
    select id from (
      select id, sum(units) over (order by began_at desc, id) as total from authorization_requests where address = $3
    ) of_address where total > $12
  );
  delete from authorization_requests where id in (
    select id from (
      select id, sum(units) over (order by began_at desc, id) as total from authorization_requests where network = $4
    ) of_network where total > $13
  );
$$;

-- 1 where the browser has another value than this one by now.
create or replace function count_renewed_values(of jsonb, most int) returns int language sql stable as $$
  select count(*)::int from (values (1)) one where not exists (
    select from browsers where id = of ->> 'id' and hash = decode(of ->> 'hash', 'hex')
  )
$$;

-- 1 where the request is answered or gone.
create or replace function count_request_answers(of jsonb, most int) returns int language sql stable as $$
  select count(*)::int from (values (1)) one where not exists (
    select from authorization_requests where id = of ->> 'id' and answer is null
  )
$$;

-- 1 where a one-time secret was used, or another took its place.
create or replace function count_lost_secrets(of jsonb, most int) returns int language sql stable as $$
  select count(*)::int from (values (1)) one where not exists (
    select from secrets
    where kind = of ->> 'kind' and id = of ->> 'id' and detail = decode(of ->> 'detail', 'hex')
  )
$$;

-- 1 where a code of this time step, or of a later one, was used, or where there is no such authenticator app any more.
create or replace function count_used_totp_steps(of jsonb, most int) returns int language sql stable as $$
  select count(*)::int from (values (1)) one where not exists (
    select from totp_secrets where user_id = of ->> 'userId' and last_step < (of ->> 'step')::bigint
  )
$$;

-- 1 where a recovery code was used or replaced.
create or replace function count_lost_recovery_codes(of jsonb, most int) returns int language sql stable as $$
  select count(*)::int from (values (1)) one where not exists (
    select from recovery_codes where user_id = of ->> 'userId' and mac = decode(of ->> 'mac', 'hex')
  )
$$;

-- The wrong codes of a second factor since the last right one.
create or replace function count_factor_guesses(of jsonb, most int) returns int language sql stable as $$
  select coalesce(max(wrong), 0) from factor_guesses
  where user_id = of ->> 'userId' and kind = of ->> 'kind' and browser_id = of ->> 'browserId'
$$;

-- Whether a credential is somebody's already.
create or replace function count_passkeys(of jsonb, most int) returns int language sql stable as $$
  select count(*)::int from passkeys where credential_hash = decode(of ->> 'hash', 'hex')
$$;

-- Whether a passkey is gone, or its counter does not go forward. One that is 0 on both sides does not count.
create or replace function count_passkey_setbacks(of jsonb, most int) returns int language sql stable as $$
  select count(*)::int from (values (1)) one where not exists (
    select from passkeys
    where credential_hash = decode(of ->> 'hash', 'hex')
      and ((sign_count = 0 and (of ->> 'signCount')::bigint = 0) or sign_count < (of ->> 'signCount')::bigint)
  )
$$;

-- The people whom an address means in an organization or, where none is named (`anywhere`), on the instance, the first one
-- first.
create or replace function address_holders(of jsonb) returns setof login_addresses language sql stable as $$
  select * from login_addresses
  where address = of ->> 'address'
    and (
      organization_id = of ->> 'organizationId'
      or ((of ->> 'anywhere')::boolean and (proved or organization_id = (
        select d.organization_id from verified_domains d where d.domain = of ->> 'domain'
      )))
    )
  -- The word of an organization alone comes behind a proof.
  order by proved desc, since
$$;

create or replace function count_address_holders(of jsonb, most int) returns int language sql stable as $$
  select count(*)::int from (select from address_holders(of) limit most) holders
$$;

-- The pending invitations of an organization, up to so many.
create or replace function count_pending_invitations(of jsonb, most int) returns int language sql stable as $$
  select count(*)::int from (
    select from invitations
    where organization_id = of ->> 'organizationId' and ended is null and expires_at > roster_now() limit most
  ) pending
$$;

-- What a user has given other applications, up to so many.
create or replace function count_consents(of jsonb, most int) returns int language sql stable as $$
  select count(*)::int from (
    select from consents where user_id = of ->> 'userId' and application_id <> of ->> 'applicationId' limit most
  ) others
$$;

-- Ends all sessions, access tokens, one-time secrets and requests, and returns the number of sessions and tokens: a restored backup brings
-- back those that had ended. The events of the sessions follow, as those of surplus ones do. It is for the operator,
-- whose role can change none of these tables itself. No other service's role may use this schema.
create or replace function end_sessions() returns bigint language plpgsql security definer as $$
declare
  ended bigint;
begin
  -- A replica reads the salt at its start alone. While passwords change, it logs in as another member of its role. The
  -- connections of a replica that has just stopped are listed a moment longer.
  for attempt in 1..51 loop
    exit when not exists (
      select from pg_stat_activity
      where pg_has_role(usesysid, current_user, 'member') and datname = current_database()
        and application_name like 'roster-users%'
    );
    if attempt = 51 then
      raise exception 'users runs: stop it first';
    end if;
    perform pg_sleep(0.1), pg_stat_clear_snapshot();
  end loop;
  update code_salt set salt = gen_random_uuid();
  delete from secrets;
  delete from authorization_requests;
  delete from half_done_sessions;
  delete from browser_sessions;
  delete from browser_uses;
  delete from browsers;
  with gone as (
    delete from authorizations returning authorization_id, user_id
  )
  insert into surplus_authorizations (authorization_id, user_id, reason)
  select authorization_id, user_id, 'signed-out' from gone on conflict do nothing;
  with gone as (
    delete from tokens where session_id <> '' or token_id is not null returning session_id, user_id, expires_at
  ), ending as (
    insert into surplus_sessions (session_id, user_id)
    select session_id, user_id from gone where session_id <> '' and expires_at > roster_now() on conflict do nothing
  )
  select count(*) into ended from gone;
  return ended;
end
$$;

-- It runs with the rights of its owner. So no temporary table of the one who calls it may stand before these.
do $$
begin
  execute format('alter function end_sessions() set search_path = %I, pg_temp', current_schema());
end
$$;
