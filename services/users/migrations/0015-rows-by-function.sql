-- What a transaction writes beside its events, so that all of it is one statement. Each function takes a list of rows.
-- They stay as they are for replicas of this version: another behaviour gets another name.

-- A row without a code: none is unsent.
create function keep_unsent_codes(rows json) returns void language plpgsql as $$
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

create function forget_unsent_resets(rows json) returns void language plpgsql as $$
begin
  delete from unsent_mails
  where user_id = any(array(select user_id from json_to_recordset(rows) as r (user_id text)))
    and kind = 'password-reset';
end
$$;

create function find_users(rows json) returns void language plpgsql as $$
begin
  insert into found_users select * from json_populate_recordset(null::found_users, rows)
  on conflict (user_id) do update set
    state = excluded.state, user_name = excluded.user_name, first_name = excluded.first_name,
    last_name = excluded.last_name, nick_name = excluded.nick_name, display_name = excluded.display_name;
end
$$;

create function find_addresses(rows json) returns void language plpgsql as $$
begin
  insert into found_addresses select * from json_populate_recordset(null::found_addresses, rows)
  on conflict (user_id) do update set email = excluded.email;
end
$$;

create function forget_found_users(rows json) returns void language plpgsql as $$
declare
  users text[] := array(select user_id from json_to_recordset(rows) as r (user_id text));
begin
  delete from found_users where user_id = any(users);
  delete from found_addresses where user_id = any(users);
end
$$;

create function keep_tokens(rows json) returns void language plpgsql as $$
begin
  insert into tokens select * from json_populate_recordset(null::tokens, rows);
end
$$;
