-- The events of a user's sessions, which are aggregates of their own.
create index events_of_sessions on events ((payload ->> 'userId'), position) where aggregate_type = 'session';
