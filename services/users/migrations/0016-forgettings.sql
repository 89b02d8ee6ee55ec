-- The users that were removed, and what is done since.
create table forgettings (
  user_id text primary key,
  organization_id text not null,
  removed_at timestamptz not null,
  -- Since when the stream of events has no event of the user but the removal.
  stream_at timestamptz,
  -- How many events the stream had of the user.
  stream_events int
);

create index forgettings_waiting on forgettings (removed_at) where stream_at is null;

-- Replicas of earlier versions write no rows. The work behind a removal begins at the first event, and so finds theirs.
insert into forgettings (user_id, organization_id, removed_at)
select id, organization_id, changed_at from aggregates where type = 'user' and state ? 'removed';
