-- The verified domains of organizations, as grants has them: each is of one organization. A follower of grants' events keeps
-- them, from the first event on.
create table verified_domains (
  -- In lower case, in Punycode.
  domain text collate "C" primary key,
  organization_id text collate "C" not null,
  -- The position of the last event of users when this became known: what was said of addresses before counts since then.
  since bigint not null
);

create index verified_domains_of_organization on verified_domains (organization_id);
