-- What people let applications have, as searches look for it. It can be made again from the aggregates.
create table consents (
  user_id text not null,
  application_id text collate "C" not null,
  scopes text[] not null,
  given_at timestamptz not null,
  primary key (user_id, application_id)
);

insert into consents (user_id, application_id, scopes, given_at)
select state ->> 'userId', state ->> 'applicationId', array(select jsonb_array_elements_text(state -> 'scopes')), changed_at
from aggregates where type = 'user.consent';
