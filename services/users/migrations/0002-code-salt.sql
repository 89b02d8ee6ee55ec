-- What codes are derived with, beside the key. Another text ends every code at once, as `end_sessions` does.
create table code_salt (
  only_row boolean primary key default true check (only_row),
  salt text not null default ''
);

insert into code_salt default values;
