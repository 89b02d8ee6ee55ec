-- PostgreSQL's statistics sample values in plain, and keep them after their rows have changed. No statement needs them
-- of payloads. The change of the type, which is none, drops those that are there.
alter table deliveries alter column payload set statistics 0, alter column payload type text;
