-- The removal of an organization goes through its providers by their ids. Otherwise each portion would read all of them.
create index idps_by_id on idps (organization_id, idp_id);
