-- A policy may have a logo for dark, and an icon, too.
alter table logos add column kind text collate "C" not null default 'logo';
alter table logos drop constraint logos_pkey, add primary key (organization_id, kind);
