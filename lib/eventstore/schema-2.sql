-- The id of the event, such as users-17, because of which a service acted by itself.
alter table events add cause text;
