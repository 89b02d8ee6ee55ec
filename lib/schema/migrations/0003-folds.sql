-- How much the code knew that folded the events into this state: `folds` in lib/eventstore/vocabulary.ts. The former
-- release names none with what it writes, which makes it null again.
alter table aggregates add column fold smallint;
