-- The audit chain (docs/decisions/22-audit.md): how far it goes, and the hash of its last page.
create table audit_chain (
  only_row boolean primary key default true check (only_row),
  -- The chain begins anew where stored events were changed for a reason.
  epoch int not null default 1,
  reason text not null default '',
  -- Set while stored events are being changed: nothing is added.
  held boolean not null default false,
  page bigint not null default 0,
  transaction_id xid8 not null default '0',
  position bigint not null default 0,
  -- Events of the epoch.
  events bigint not null default 0,
  hash text not null default ''
);

insert into audit_chain default values;

create table audit_pages (
  number bigint primary key,
  -- The hash of a page is that of this text.
  header text not null,
  -- Without it, nobody can try out what an event may have said.
  salt text not null,
  -- 40 bytes for each event: its position and its hash.
  entries bytea not null,
  -- The place of its last event.
  transaction_id xid8 not null,
  position bigint not null
);

create index audit_pages_by_place on audit_pages (transaction_id, position);
-- Hashes do not get smaller.
alter table audit_pages alter column entries set storage external;

create table audit_checkpoints (
  number bigint primary key,
  jws text not null,
  epoch int not null,
  page bigint not null,
  transaction_id xid8 not null,
  position bigint not null,
  signed_at timestamptz not null,
  -- Whether the stream has it.
  published boolean not null default false
);

create index audit_checkpoints_unpublished on audit_checkpoints (number) where not published;

create table audit_keys (
  kid text primary key,
  public_key jsonb not null,
  -- Sealed. Null once the key signs no more.
  private_key bytea,
  created_at timestamptz not null default now()
);
