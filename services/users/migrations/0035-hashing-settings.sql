-- Which parameters of Argon2id the instance was set to, and since when passwords are hashed with them: the newest that has
-- begun counts. A row for each change of the setting.
create table hashing_settings (
  number bigint generated always as identity primary key,
  parameters text collate "C" not null,
  begins_at timestamptz not null
);
