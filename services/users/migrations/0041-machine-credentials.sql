-- The credentials of machines: when each ends, and the hour in which it was last used. Those of before, of which no warning
-- is due yet, come from where that is kept; any other one as it is used.
create table machine_credentials (
  credential_id text collate "C" primary key,
  user_id text collate "C" not null,
  organization_id text collate "C" not null,
  -- As in events.
  kind text collate "C" not null,
  -- Null for one that does not expire.
  ends_at timestamptz,
  -- Null: not since this table is there.
  used_at timestamptz
);

create index machine_credentials_by_end on machine_credentials (organization_id, ends_at, credential_id)
where ends_at is not null;
create index machine_credentials_of_user on machine_credentials (user_id);

-- Fourteen days lie between warning and end.
insert into machine_credentials (credential_id, user_id, organization_id, kind, ends_at)
select e.credential_id, e.user_id, a.organization_id, e.kind, e.warn_at + interval '14 days'
from expiring_credentials e join aggregates a on a.type = 'user' and a.id = e.user_id;
