-- Set where somebody asked for another try: the tail sends the event again.
alter table parked_events add retry boolean not null default false;
