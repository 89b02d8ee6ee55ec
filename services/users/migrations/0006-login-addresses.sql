-- The addresses that name people who sign in, by a keyed hash of the form in which addresses are compared. They come
-- from the events of users, in the order of these.
create table login_addresses (
  user_id text not null,
  address text not null,
  organization_id text not null,
  -- False where only somebody of the organization says so. It then names the user in that organization alone.
  proved boolean not null,
  -- The position of the event that says so.
  since bigint not null,
  primary key (user_id, address)
);

create index login_addresses_by_address on login_addresses (address, since) where proved;
create index login_addresses_in_organization on login_addresses (organization_id, address, proved, since);
