-- Organizations take turns in having their removed users cleaned from the stream.
create index forgettings_in_turns on forgettings (organization_id, removed_at) where stream_at is null and forget_at is null;
