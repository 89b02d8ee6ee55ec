-- A bare login name belongs to the user who had it first on the instance.
insert into first_key_kinds (kind) values ('user_name');
