-- The tables of searches compare ids byte by byte. Without the same collation here, a join with them could not use the
-- primary key, and would read every aggregate of the type.
alter table aggregates alter column id type text collate "C";
-- A statement that looks by such an id into a table of the database's own collation says `collate "default"`. Otherwise
-- it could not use the index there.
