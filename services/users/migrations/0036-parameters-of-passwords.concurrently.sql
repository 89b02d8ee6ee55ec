-- Which parameters the stored hashes have: few distinct ones, each of which a read finds by one step in the index.
create index concurrently if not exists parameters_of_passwords on passwords ((split_part(hash, '$', 4) collate "C"));
