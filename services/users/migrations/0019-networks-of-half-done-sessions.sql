-- A MAC of the address, or of the /48 of an IPv6 address, that began the session.
alter table half_done_sessions add column network bytea;
