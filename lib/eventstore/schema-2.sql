-- The id of the event, such as users-17, because of which a service acted by itself.
alter table events add cause text;

-- The events of one organization, in commit order.
create index events_of_organization on events (organization_id, transaction_id, position);
