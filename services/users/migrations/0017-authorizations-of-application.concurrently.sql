-- What happened to a user at an application begins with its authorizations.
create index concurrently if not exists events_of_authorizations
on events ((payload ->> 'userId'), (payload ->> 'applicationId'), position)
where aggregate_type = 'authorization' and type = 'granted';
