-- The domains of organizations whose records are looked for from time to time. It can be made again from the aggregates.
create table watched_domains (
  organization_id text collate "C" not null,
  -- In lower case, in Punycode.
  domain text collate "C" not null,
  looked_at timestamptz not null,
  -- The next look is soon: at the last one, the record was missing, or nobody answered.
  soon boolean not null,
  -- Since when name servers do not answer. Null: the last time, they did.
  unanswered_since timestamptz,
  primary key (organization_id, domain)
);

create index watched_domains_by_look on watched_domains (soon, looked_at);
