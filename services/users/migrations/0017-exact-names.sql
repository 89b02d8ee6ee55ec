-- Names and addresses as they are written, for queries that tell letters apart: the states of users are sealed. A plain
-- state is exact itself, and the former release does not write these columns.
alter table found_users add column exact jsonb;
alter table found_addresses add column exact jsonb;

create function find_users_exactly(rows json) returns void language plpgsql as $$
begin
  insert into found_users select * from json_populate_recordset(null::found_users, rows)
  on conflict (user_id) do update set
    state = excluded.state, user_name = excluded.user_name, first_name = excluded.first_name,
    last_name = excluded.last_name, nick_name = excluded.nick_name, display_name = excluded.display_name,
    exact = excluded.exact;
end
$$;

create function find_addresses_exactly(rows json) returns void language plpgsql as $$
begin
  insert into found_addresses select * from json_populate_recordset(null::found_addresses, rows)
  on conflict (user_id) do update set email = excluded.email, exact = excluded.exact;
end
$$;
