-- Applications that have an ID token of a session: they are told when it is ended. A row stays as long as the state of
-- its session.
create table session_applications (
  session_id text collate "C" not null,
  application_id text not null,
  primary key (session_id, application_id)
);
