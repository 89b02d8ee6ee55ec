-- When something plain was last found and sealed.
alter table sealing add changed_at timestamptz not null default now();
