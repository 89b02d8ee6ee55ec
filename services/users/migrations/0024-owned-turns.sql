-- Whose limit it is, as a MAC, so that it can be said until when a user waits; and the seconds that may be taken ahead
-- without a wait. Null: nobody's, or of the former release.
alter table turns add column owner bytea, add column spare float8;
