-- What a user holds, which goes with the user. Of the aggregates themselves, so that to give something costs no second statement.
create index holdings on aggregates ((state ->> 'userId'))
where type in ('member', 'user_grant') and not state ? 'removed';

-- The owners of the instance are found by it.
create index memberships_by_organization on memberships (organization_id);
