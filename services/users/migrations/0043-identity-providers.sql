-- What idp has of its providers: so that a page, and each question whether a sign-in still counts, needs no answer of idp.
create table identity_providers (
  idp_id text collate "C" primary key,
  organization_id text collate "C" not null,
  -- Of idp's last event.
  sequence bigint not null,
  signs_in boolean not null,
  name text not null,
  styling_type integer not null
);
