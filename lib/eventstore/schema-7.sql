-- The tables of searches compare ids byte by byte. Without the same collation here, a join with them could not use the
-- primary key, and would read every aggregate of the type.
alter table aggregates alter column id type text collate "C";
